// A server on this machine that never waits: it answers its first asker with the same bytes again and again, as fast as they are taken.
//
// What it could send and nobody has read is held somewhere on the way: in the kernel, or in the program. Threads: its own; the numbers may
// be asked for on any.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

namespace winnow::test {

class FloodingServer {
 public:
  static constexpr std::int64_t kMostBytes = std::int64_t{1} << 30;  // then it gives up: nobody holds it back

  // head: with its empty line; piece: what is repeated behind it.
  FloodingServer(std::string head, std::string piece);
  ~FloodingServer();
  FloodingServer(const FloodingServer&) = delete;
  FloodingServer& operator=(const FloodingServer&) = delete;

  std::string address() const { return "http://127.0.0.1:" + std::to_string(m_port); }
  std::int64_t sentBytes() const { return m_sentBytes.load(); }
  // Nothing more is taken: everything between is full, or the asker has gone.
  bool isHeldBack() const { return m_heldBack.load(); }

 private:
  void serve();

  const std::string m_head, m_piece;
  int m_listener = -1;
  int m_port = 0;
  std::atomic<std::int64_t> m_sentBytes{0};
  std::atomic<bool> m_heldBack{false}, m_quit{false};
  std::thread m_thread;
};

inline constexpr char kEndlessStream[] = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";

}  // namespace winnow::test
