// Server-sent events: the bytes of a stream to the data of its events.
//
// Lines end in LF, CR or CRLF; comments and fields other than "data" and "event" are skipped; several data lines of one event are joined.
// Nothing is kept but the unfinished event. Errors: Exception(kServerNotUnderstood) for a line, an event or a stream beyond its bound.
// Threads: one.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace winnow::app {

class EventStream {
 public:
  static constexpr std::size_t kMostEventBytes = 8 << 20;
  static constexpr std::size_t kMostBytes = 256 << 20;

  using Take = std::function<void(std::string_view data)>;

  // Calls `take` for every event that ends in this piece.
  void add(std::string_view piece, const Take& take);
  // The stream is over: an event that lacks its empty line counts.
  void end(const Take& take);
  // While `take` is called: the event's name, "error"; empty: it has none.
  const std::string& name() const { return m_name; }

 private:
  void endLine(const Take& take);
  void endEvent(const Take& take);

  std::string m_line;
  std::string m_data;
  std::string m_name;
  bool m_hasData = false;
  bool m_afterReturn = false;  // the last byte was CR: an LF now ends the same line
  std::size_t m_bytes = 0;
};

}  // namespace winnow::app
