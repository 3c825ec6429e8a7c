// The bodies of answers, in the forms of OpenAI's API. What is Winnow's own stands under "winnow". Pure; threads: any.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/programs/server/api_refusal.h"
#include "app/programs/server/chat_request.h"
#include "app/programs/server/http_listener.h"
#include "engine/messages/events.h"

namespace winnow::app {

// The fields that all parts of one answer have.
struct AnswerName {
  std::string id;  // "chatcmpl-...", "cmpl-..."
  std::int64_t createdS = 0;
  std::string model;
  AnswerForm form = AnswerForm::kChat;
  std::optional<std::int64_t> seed{};  // of an answer that is sampled: given again, it repeats the answer
};

std::string jsonText(const nlohmann::ordered_json& value);   // bytes that are not UTF-8 become U+FFFD
nlohmann::ordered_json bytesJson(const std::string& bytes);  // a list of numbers

HttpReply jsonReply(const nlohmann::ordered_json& body, int status = 200);
HttpReply errorReply(int status, const std::string& message, const std::string& param = {}, const std::string& code = {});
HttpReply errorReply(const ApiRefusal& refusal);
// The refusal for what the engine says: bad input is 400, an engine that cannot go on 500 or 503. Names no file.
ApiRefusal refusalOf(const Error& error);

nlohmann::ordered_json usageJson(const Finished& finished, const CacheReport* report, const std::vector<std::string>& ignored);
// A whole answer. of: "message" or "text", and "logprobs".
nlohmann::ordered_json completionJson(const AnswerName& name, const nlohmann::ordered_json& of, const char* finishReason,
                                      nlohmann::ordered_json usage);
// One line of a stream. of: "delta" or "text", and "logprobs"; finishReason: null but in the last.
std::string chunkText(const AnswerName& name, const nlohmann::ordered_json& of, const char* finishReason);
std::string usageChunkText(const AnswerName& name, const nlohmann::ordered_json& usage);
std::string errorChunkText(const ApiRefusal& refusal);
const char* finishReasonOf(StopReason reason);

nlohmann::ordered_json modelJson(const ModelInfo& model, std::int64_t createdS);
nlohmann::ordered_json speechModelJson(const std::string& name, std::int64_t createdS);
nlohmann::ordered_json plannedJson(const Planned& planned);

}  // namespace winnow::app
