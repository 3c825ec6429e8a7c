// The bodies of POST /tokenize and /detokenize, in the forms of llama.cpp's server ("content") and of vLLM ("prompt", "messages"), and
// their answers. Errors: ApiRefusal (400). Threads: one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "app/programs/server/chat_request.h"
#include "engine/messages/events.h"

namespace winnow::app {

struct TokenRequest {
  enum class Form : int { kContent = 1, kPrompt = 2, kBack = 3 };
  std::string model;
  RequestBody body{};  // Tokenize or Detokenize
  Form form = Form::kContent;
  bool withPieces = false;     // the bytes of each token, too
  std::optional<Turn> chat{};  // a thread instead of body, whose prompt is what an answer to it begins with
};

inline constexpr std::size_t kMostGivenTokens = 1 << 20;  // as many as are told

// media, reader: for messages, whose attachments are then refused by the engine.
TokenRequest tokenizeRequestOf(const RequestFields& body, const RequestDefaults& defaults, const RequestMedia& media,
                               const MediaReader& reader);
TokenRequest detokenizeRequestOf(const RequestFields& body);

nlohmann::ordered_json tokenizedJson(const TokenRequest& request, const Tokenized& tokenized, std::int64_t contextTokens);

}  // namespace winnow::app
