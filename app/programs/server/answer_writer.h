// Writes one answer to its asker as its events come: whole or as a stream, in the form that was asked for.
//
// Errors: none. Threads: one.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "app/programs/server/api_json.h"
#include "app/programs/server/told_tokens.h"

namespace winnow::app {

class AnswerWriter {
 public:
  // began: told the status, once, when the answer begins to go out.
  AnswerWriter(AnswerName name, const ChatRequest& request, std::shared_ptr<HttpAnswer> answer, std::function<void(int status)> began);

  const AnswerName& name() const { return m_name; }

  void hear(const TokenSampled& token);
  void hear(const TextDelta& text);
  void finish(const Finished& finished, const nlohmann::ordered_json& usage);
  void fail(const ApiRefusal& refusal);
  // Something else than an answer.
  void send(HttpReply reply);

 private:
  void beginStream();
  void writeText(const std::string& field, const std::string& text, const char* finishReason);

  const AnswerName m_name;
  const bool m_streams, m_usageInStream;
  const std::string m_echo;
  const std::shared_ptr<HttpAnswer> m_answer;  // shared with the connection
  const std::function<void(int)> m_began;
  ToldTokens m_tokens;
  bool m_begun = false;  // a stream: its head was sent
};

}  // namespace winnow::app
