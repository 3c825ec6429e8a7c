// A growing file or a pipe, read by descriptor.
//
// A file is waited for at its end; a pipe ends when its last writer closes it. Standard input may be either: a file that was redirected
// into it is read to its end. Errors (constructor): kFileNotFound, kFileUnreadable. Threads: the reading thread.
#pragma once

#include <string>

#include "app/media/files/live/live_bytes.h"
#include "app/media/files/live/stall_guard.h"

namespace winnow::app {

class DescriptorBytes final : public LiveBytes {
 public:
  enum class AtEnd : int { kWait = 1, kEnd };

  // address: a path, or "-" for standard input. `watch` is borrowed.
  DescriptorBytes(const std::string& address, AtEnd atEnd, StallGuard& watch);
  ~DescriptorBytes() override;
  DescriptorBytes(const DescriptorBytes&) = delete;
  DescriptorBytes& operator=(const DescriptorBytes&) = delete;

  int read(std::span<std::uint8_t> into) noexcept override;
  LiveEnd end() const override { return m_end; }

 private:
  void waitForMore() const noexcept;

  StallGuard& m_watch;
  const AtEnd m_atEnd;
  int m_descriptor = -1;
  bool m_owned = true;
  LiveEnd m_end = LiveEnd::kNotYet;
};

}  // namespace winnow::app
