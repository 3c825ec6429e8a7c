#include "app/remote/answer_stream.h"

#include <algorithm>
#include <utility>

#include "app/remote/server_fault.h"
#include "app/remote/told_json.h"

namespace winnow::app {
namespace {

constexpr std::int64_t kMostTokens = std::int64_t{1} << 40;

std::int64_t tokensAt(const Json& value, std::initializer_list<const char*> path) {
  const Json* count = toldAt(value, path);
  if (count == nullptr || !count->is_number_integer()) return 0;
  const auto number = count->get<std::int64_t>();
  return number > 0 && number < kMostTokens ? number : 0;
}

StopReason reasonOf(const std::string& word) { return word == "length" ? StopReason::kLength : StopReason::kStopToken; }

std::optional<AnswerUsage> usageOf(const Json& value) {
  const Json* usage = toldAt(value, {"usage"});
  if (usage == nullptr || !usage->is_object()) return std::nullopt;
  AnswerUsage told;
  told.promptTokens = tokensAt(*usage, {"prompt_tokens"});
  told.generatedTokens = tokensAt(*usage, {"completion_tokens"});
  const std::int64_t cached = tokensAt(*usage, {"prompt_tokens_details", "cached_tokens"});
  const std::int64_t ofLlama = tokensAt(value, {"timings", "cache_n"});  // llama-server's own
  told.cachedTokens = std::min(std::max(cached, ofLlama), told.promptTokens);
  told.thoughtTokens = std::min(tokensAt(*usage, {"completion_tokens_details", "reasoning_tokens"}), told.generatedTokens);
  return told;
}

}  // namespace

void AnswerStream::add(const ServerReply& head, std::string_view piece) {
  m_streams = head.type != "application/json";
  if (head.type == "text/html") throw Exception(ErrorCode::kServerNotOne, m_address.host(), "it answers with a web page");
  if (m_streams) return m_events.add(piece, [this](std::string_view data) { readChunk(data); });
  if (m_whole.size() + piece.size() > ServerConnection::kMostBodyBytes)
    throw Exception(ErrorCode::kServerNotUnderstood, m_address.host(), "its answer has no end");
  m_whole += piece;
}

void AnswerStream::end() {
  if (!m_streams) return readWhole();
  m_events.end([this](std::string_view data) { readChunk(data); });
}

void AnswerStream::readChunk(std::string_view data) {
  if (m_done) return;
  if (data == "[DONE]") {
    m_done = true;
    return;
  }
  Json chunk;
  try {
    chunk = parse_json(data, "the answer", {.max_bytes = EventStream::kMostEventBytes + 1, .max_depth = 32, .max_elements = 100'000});
  } catch (const Exception& problem) {
    throw Exception(ErrorCode::kServerNotUnderstood, m_address.host(), "a piece of its answer is no JSON: " + problem.error().reason);
  }
  if (const Json* error = toldAt(chunk, {"error"})) throw Exception(faultInside(m_address, *error));
  if (auto usage = usageOf(chunk)) m_usage = usage;
  const Json* choices = toldAt(chunk, {"choices"});
  if (choices == nullptr || !choices->is_array() || choices->empty()) return;
  const Json& choice = choices->front();
  const Json* said = toldAt(choice, {"delta"});
  if (said == nullptr) said = toldAt(choice, {"message"});
  if (said != nullptr) {
    std::string thought = textAt(*said, {"reasoning_content"});
    if (thought.empty()) thought = textAt(*said, {"reasoning"});
    std::string text = textAt(*said, {"content"});
    if (!thought.empty() || !text.empty()) ++m_pieces;
    if (!thought.empty()) m_take({std::move(thought), TextKind::kThought});
    if (!text.empty()) m_take({std::move(text), TextKind::kAnswer});
  }
  if (const std::string reason = textAt(choice, {"finish_reason"}); !reason.empty()) m_reason = reasonOf(reason);
}

void AnswerStream::readWhole() {
  readChunk(m_whole);
  if (m_reason || m_done) return;
  throw Exception(ErrorCode::kServerNotUnderstood, m_address.host(), "its answer has another form than this kind of server's");
}

}  // namespace winnow::app
