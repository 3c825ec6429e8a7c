#include "app/engine/remote/answer_stream.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "app/engine/remote/server_fault.h"
#include "app/engine/remote/server_words.h"

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
  AnswerUsage told{.promptTokens = tokensAt(*usage, {"prompt_tokens"}), .generatedTokens = tokensAt(*usage, {"completion_tokens"})};
  const std::int64_t cached = tokensAt(*usage, {"prompt_tokens_details", "cached_tokens"});
  const std::int64_t ofLlama = tokensAt(value, {"timings", "cache_n"});  // llama-server's own
  told.cachedTokens = std::min(std::max(cached, ofLlama), told.promptTokens);
  told.thoughtTokens = std::min(tokensAt(*usage, {"completion_tokens_details", "reasoning_tokens"}), told.generatedTokens);
  return told;
}

constexpr std::size_t kEscape = 6;  // "\\uD83D"
constexpr std::size_t kMostToolName = 64;

// The code unit of the escape at this place; 0: there is none.
unsigned unitAt(std::string_view json, std::size_t at) {
  if (json.substr(at, 2) != "\\u" || json.size() - at < kEscape) return 0;
  unsigned unit = 0;
  const char* const digits = json.data() + at + 2;
  const auto [end, problem] = std::from_chars(digits, digits + 4, unit, 16);
  return problem == std::errc() && end == digits + 4 ? unit : 0;
}

bool isFirstHalf(unsigned unit) { return unit >= 0xD800 && unit < 0xDC00; }
bool isSecondHalf(unsigned unit) { return unit >= 0xDC00 && unit < 0xE000; }

// Some servers cut a character outside the basic plane into two pieces, each with half of its escapes, which is no JSON. The first half
// waits in `half` for the text that begins with the second; another half that is alone becomes U+FFFD.
std::string withWholeCharacters(std::string_view json, std::string& half) {
  if (json.find("\\u") == std::string_view::npos) return std::string(json);
  std::string mended;
  mended.reserve(json.size() + kEscape);
  for (std::size_t at = 0; at < json.size();) {
    const unsigned unit = unitAt(json, at);
    std::size_t length = unit != 0 ? kEscape : json[at] == '\\' ? 2 : 1;
    if (isFirstHalf(unit) && isSecondHalf(unitAt(json, at + kEscape))) {
      mended += json.substr(at, length = 2 * kEscape);
    } else if (isFirstHalf(unit) && json.substr(at + kEscape, 1) == "\"") {
      half = json.substr(at, kEscape);
    } else if (isSecondHalf(unit) && !half.empty() && mended.ends_with('"')) {
      mended += std::exchange(half, {}) + std::string(json.substr(at, kEscape));
    } else if (isFirstHalf(unit) || isSecondHalf(unit)) {
      mended += "\\ufffd";
    } else {
      mended += json.substr(at, length);
    }
    at += length;
  }
  return mended;
}

// A text, or a list of parts. `thoughts` gets those parts that are none of the answer.
std::string textIn(const Json* content, std::string& thoughts) {
  if (content == nullptr) return {};
  if (content->is_string()) return content->get<std::string>();
  std::string text;
  if (!content->is_array()) return text;
  for (const Json& part : *content) {
    const std::string type = textAt(part, {"type"});
    const bool thought = type == "thinking" || type == "reasoning";
    for (const char* field : {"text", "refusal", "thinking", "reasoning"}) {
      std::string inner;
      const std::string said = textIn(toldAt(part, {field}), inner);
      (thought ? thoughts : text) += inner + said;
    }
  }
  return text;
}

std::string toolIn(const Json& message) {
  const Json* calls = toldAt(message, {"tool_calls"});
  const Json* first = calls != nullptr && calls->is_array() && !calls->empty() ? &calls->front() : nullptr;
  if (first == nullptr && toldAt(message, {"function_call"}) == nullptr) return {};
  const std::string name = first != nullptr ? textAt(*first, {"function", "name"}) : textAt(message, {"function_call", "name"});
  return name.empty() ? "a tool" : "the tool " + cutText(name, kMostToolName);
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
  m_streams ? m_events.end([this](std::string_view data) { readChunk(data); }) : readWhole();
  m_marks.end(m_take);
  if (ended()) requireAnswer();
}

void AnswerStream::requireAnswer() const {
  if (m_filtered) {
    throw Exception(ErrorCode::kServerRefuses, m_address.host(),
                    m_answers ? "its filter ended the answer" : "its filter held the answer back");
  }
  if (!m_answers && !m_tool.empty()) {
    throw Exception(ErrorCode::kServerNotUnderstood, m_address.host(),
                    "its model calls " + m_tool + " instead of answering, and no tool is offered here");
  }
}

void AnswerStream::readChunk(std::string_view data) {
  if (m_done) return;
  if (data == "[DONE]") {
    m_done = true;
    return;
  }
  ++m_chunks;
  const bool isFault = m_events.name() == "error";
  Json chunk;
  try {
    chunk = parse_json(withWholeCharacters(data, m_half), "the answer",
                       {.max_bytes = EventStream::kMostEventBytes + kEscape + 1, .max_depth = 32, .max_elements = 100'000});
  } catch (const Exception& problem) {
    if (isFault) throw Exception(faultInside(m_address, Json(std::string(data))));
    throw Exception(ErrorCode::kServerNotUnderstood, m_address.host(), "a piece of its answer is no JSON: " + problem.error().reason);
  }
  if (const Json* error = toldAt(chunk, {"error"})) throw Exception(faultInside(m_address, *error));
  if (isFault || textAt(chunk, {"object"}) == "error") throw Exception(faultInside(m_address, chunk));
  if (auto usage = usageOf(chunk)) m_usage = usage;
  const Json* choices = toldAt(chunk, {"choices"});
  if (choices == nullptr || !choices->is_array() || choices->empty()) return;
  const Json& choice = choices->front();
  const Json* said = toldAt(choice, {"delta"});
  if (said == nullptr) said = toldAt(choice, {"message"});
  if (said != nullptr) readMessage(*said);
  const std::string reason = textAt(choice, {"finish_reason"});
  if (reason.empty()) return;
  m_reason = reasonOf(reason);
  m_filtered = reason == "content_filter";
  if ((reason == "tool_calls" || reason == "function_call") && m_tool.empty()) m_tool = "a tool";
}

void AnswerStream::readMessage(const Json& message) {
  std::string inParts;
  const std::string text = textIn(toldAt(message, {"content"}), inParts) + textAt(message, {"refusal"});
  std::string thought = textIn(toldAt(message, {"reasoning_content"}), inParts);
  if (thought.empty()) thought = textIn(toldAt(message, {"reasoning"}), inParts);
  thought = inParts + thought;
  if (const std::string tool = toolIn(message); !tool.empty() && m_tool.empty()) m_tool = tool;
  if (!thought.empty() || !text.empty()) ++m_pieces;
  if (!thought.empty()) m_take({std::move(thought), TextKind::kThought});
  m_marks.add(text, [this](TextDelta delta) {
    m_answers = m_answers || delta.kind == TextKind::kAnswer;
    m_take(std::move(delta));
  });
}

void AnswerStream::readWhole() {
  readChunk(m_whole);
  if (m_reason || m_done) return;
  throw Exception(ErrorCode::kServerNotUnderstood, m_address.host(), "its answer has another form than this kind of server's");
}

}  // namespace winnow::app
