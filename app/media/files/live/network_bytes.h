// A stream of tcp://, udp://, http:// or https://, through FFmpeg's protocols under a list of what the one that was asked for needs.
//
// Nothing of what comes can open anything else: the demuxer never sees the connection, and a server's redirection stays within http and
// https. Errors (constructor): kFileUnreadable; a server that does not answer in time is a source that stalls, not an error. Threads: the
// reading thread; FFmpeg receives udp on one of its own.
#pragma once

#include <string>

#include "app/media/files/av_handles.h"
#include "app/media/files/live/live_bytes.h"
#include "app/media/files/live/stall_guard.h"

namespace winnow::app {

class NetworkBytes final : public LiveBytes {
 public:
  // True if this build of FFmpeg has the protocol.
  static bool canRead(const std::string& scheme);

  // `watch` is borrowed.
  NetworkBytes(const std::string& address, StallGuard& watch);
  ~NetworkBytes() override;
  NetworkBytes(const NetworkBytes&) = delete;
  NetworkBytes& operator=(const NetworkBytes&) = delete;

  int read(std::span<std::uint8_t> into) noexcept override;
  LiveEnd end() const override { return m_end; }
  bool brokeOff() const override { return m_broke; }

 private:
  void endBy(int code) noexcept;

  StallGuard& m_watch;
  AVIOContext* m_io = nullptr;
  LiveEnd m_end = LiveEnd::kNotYet;
  bool m_broke = false;
};

}  // namespace winnow::app
