#include "app/programs/server/answer_writer.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace winnow::app {

using Ordered = nlohmann::ordered_json;

AnswerWriter::AnswerWriter(AnswerName name, const ChatRequest& request, std::shared_ptr<HttpAnswer> answer, std::function<void(int)> began)
    : m_name(std::move(name)),
      m_streams(request.stream),
      m_usageInStream(request.usageInStream),
      m_echo(request.echo),
      m_answer(std::move(answer)),
      m_began(std::move(began)),
      m_tokens(request.form, request.echo) {}

void AnswerWriter::hear(const TokenSampled& token) { m_tokens.add(token); }

void AnswerWriter::hear(const TextDelta& text) {
  const bool thought = text.kind == TextKind::kThought;
  if (!thought) m_tokens.release();
  if (!m_streams) return;
  beginStream();
  writeText(thought ? "reasoning_content" : "content", text.text, nullptr);
}

// With the probabilities of the tokens that the text is made of.
void AnswerWriter::writeText(const std::string& field, const std::string& text, const char* finishReason) {
  Ordered of;
  if (m_name.form == AnswerForm::kText) {
    of["text"] = text;
  } else {
    of["delta"] = Ordered::object();
    if (!text.empty()) of["delta"][field] = text;
  }
  of["logprobs"] = m_tokens.take();
  m_answer->write(chunkText(m_name, of, finishReason));
}

void AnswerWriter::beginStream() {
  if (std::exchange(m_begun, true)) return;
  m_began(200);
  m_answer->begin({200, "text/event-stream", "", {{"Cache-Control", "no-cache"}}});
  if (m_name.form == AnswerForm::kChat) {
    m_answer->write(chunkText(m_name, {{"delta", {{"role", "assistant"}, {"content", ""}}}, {"logprobs", nullptr}}, nullptr));
  } else if (!m_echo.empty()) {
    m_answer->write(chunkText(m_name, {{"text", m_echo}, {"logprobs", nullptr}}, nullptr));
  }
}

void AnswerWriter::finish(const Finished& finished, const Ordered& usage) {
  // Text taken by a stop string loses its tokens, too; text that ends within a character keeps them.
  if (finished.reason != StopReason::kStopString) m_tokens.release();
  if (m_streams) {
    beginStream();
    writeText("content", "", finishReasonOf(finished.reason));
    if (m_usageInStream) m_answer->write(usageChunkText(m_name, usage));
    m_answer->write("data: [DONE]\n\n");
    return m_answer->end();
  }
  Ordered of;
  if (m_name.form == AnswerForm::kText) {
    of["text"] = m_echo + finished.answer;
  } else {
    of["message"] = {{"role", "assistant"}, {"content", finished.answer}, {"refusal", nullptr}};
    if (!finished.thought.empty()) of["message"]["reasoning_content"] = finished.thought;
  }
  of["logprobs"] = m_tokens.take();
  send(jsonReply(completionJson(m_name, of, finishReasonOf(finished.reason), usage)));
}

void AnswerWriter::fail(const ApiRefusal& refusal) {
  if (!m_begun) return send(errorReply(refusal));
  m_answer->write(errorChunkText(refusal));
  m_answer->end();
}

void AnswerWriter::send(HttpReply reply) {
  m_began(reply.status);
  m_answer->send(std::move(reply));
}

}  // namespace winnow::app
