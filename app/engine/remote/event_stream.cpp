#include "app/engine/remote/event_stream.h"

#include <utility>

#include "engine/base/error.h"

namespace winnow::app {
namespace {

constexpr std::size_t kMostEventName = 64;

void requireBelow(std::size_t bytes, std::size_t most, const char* what) {
  if (bytes > most) throw Exception(ErrorCode::kServerNotUnderstood, "", std::string(what) + " of the answer has no end");
}

}  // namespace

void EventStream::add(std::string_view piece, const Take& take) {
  m_bytes += piece.size();
  requireBelow(m_bytes, kMostBytes, "the stream");
  while (!piece.empty()) {
    if (m_afterReturn && piece.front() == '\n') piece.remove_prefix(1);
    m_afterReturn = false;
    const std::size_t end = piece.find_first_of("\r\n");
    m_line += piece.substr(0, end);
    requireBelow(m_line.size(), kMostEventBytes, "a line");
    if (end == std::string_view::npos) return;
    m_afterReturn = piece[end] == '\r';
    piece.remove_prefix(end + 1);
    endLine(take);
  }
}

void EventStream::end(const Take& take) {
  if (!m_line.empty()) endLine(take);
  endEvent(take);
}

void EventStream::endLine(const Take& take) {
  const std::string line = std::exchange(m_line, {});
  if (line.empty()) return endEvent(take);
  constexpr std::string_view kMark = "\xEF\xBB\xBF";  // some files begin with it
  const std::string_view said = line.starts_with(kMark) ? std::string_view(line).substr(kMark.size()) : std::string_view(line);
  const auto valueOf = [said](std::string_view field) {
    std::string_view value = said.substr(field.size());
    return value.starts_with(' ') ? value.substr(1) : value;
  };
  if (said.starts_with("event:")) m_name = valueOf("event:").substr(0, kMostEventName);
  if (!said.starts_with("data:")) return;
  const std::string_view value = valueOf("data:");
  if (m_hasData) m_data += '\n';
  m_data += value;
  m_hasData = true;
  requireBelow(m_data.size(), kMostEventBytes, "an event");
}

void EventStream::endEvent(const Take& take) {
  if (std::exchange(m_hasData, false)) take(std::exchange(m_data, {}));
  m_name.clear();
}

}  // namespace winnow::app
