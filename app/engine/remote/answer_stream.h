// The pieces of a streamed answer, and what is known when it ends.
//
// Reads both the stream of chat.completion.chunk and, where a server answers as a whole, one chat.completion. A text may come as a list of
// parts, its thoughts in fields, parts or marks of their own (think_marks.h), and a character in two halves. An answer that is none (a
// tool's call, a filter) is a fault. Errors: Exception (kServerNotUnderstood, kServerRefuses, kServerNotOne for a web page, faults that the
// server reports inside the stream). Threads: one.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "app/engine/remote/event_stream.h"
#include "app/engine/remote/server_address.h"
#include "app/engine/remote/server_connection.h"
#include "app/engine/remote/think_marks.h"
#include "engine/messages/events.h"

namespace winnow::app {

struct AnswerUsage {
  std::int64_t promptTokens = 0;
  std::int64_t cachedTokens = 0;  // of them
  std::int64_t generatedTokens = 0;
  std::int64_t thoughtTokens = 0;  // of them
};

class AnswerStream {
 public:
  using Take = std::function<void(TextDelta)>;

  AnswerStream(const ServerAddress& address, Take take) : m_address(address), m_take(std::move(take)) {}

  void add(const ServerReply& head, std::string_view piece);
  void end();  // all bytes are here

  bool ended() const { return m_done || m_reason.has_value(); }  // it said so: otherwise the stream broke off
  StopReason reason() const { return m_reason.value_or(StopReason::kStopToken); }
  const std::optional<AnswerUsage>& usage() const { return m_usage; }
  std::int64_t pieces() const { return m_pieces; }  // with text: about a token each
  std::int64_t chunks() const { return m_chunks; }  // with or without

 private:
  void readChunk(std::string_view data);
  void readMessage(const nlohmann::json& message);
  void readWhole();
  void requireAnswer() const;

  const ServerAddress& m_address;
  const Take m_take;
  EventStream m_events;
  std::string m_whole;  // of an answer that is no stream
  bool m_streams = true;
  bool m_done = false;
  std::optional<StopReason> m_reason;
  std::optional<AnswerUsage> m_usage;
  std::int64_t m_pieces = 0;
  std::int64_t m_chunks = 0;
  ThinkMarks m_marks;
  std::string m_half;       // the escape of a character's first half, at the end of the last text
  std::string m_tool;       // that the model calls; empty: none
  bool m_filtered = false;  // the server held the answer back, or cut it
  bool m_answers = false;   // a word of the answer has come
};

}  // namespace winnow::app
