// Ends waits of the thread that reads a live source: when the source is closed, and when nothing came for too long.
//
// The thread begins every wait with begin() and polls shouldStop() (FFmpeg does, inside its own loops); close() and finish() are called
// from the thread that uses the source. Monotonic clock.
#pragma once

#include <atomic>
#include <chrono>

namespace winnow::app {

class StallGuard {
 public:
  using Clock = std::chrono::steady_clock;

  explicit StallGuard(double stallS) : m_stall(std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(stallS))) {}

  // Nothing is wanted any more.
  void close() noexcept { m_closed.store(true, std::memory_order_release); }
  // Nothing more will come: what is there is read to its end, and no wait begins.
  void finish() noexcept { m_finished.store(true, std::memory_order_release); }

  // Reading thread only.
  void begin() noexcept { m_deadline = Clock::now() + m_stall; }
  bool stalled() const noexcept { return Clock::now() >= m_deadline; }

  bool closed() const noexcept { return m_closed.load(std::memory_order_acquire); }
  bool finished() const noexcept { return m_finished.load(std::memory_order_acquire); }
  bool shouldStop() const noexcept { return closed() || finished() || stalled(); }

  // The shape that FFmpeg wants for AVIOInterruptCB.
  static int callback(void* watch) { return static_cast<const StallGuard*>(watch)->shouldStop() ? 1 : 0; }

 private:
  const Clock::duration m_stall;
  std::atomic<bool> m_closed{false};
  std::atomic<bool> m_finished{false};
  Clock::time_point m_deadline = Clock::time_point::max();
};

}  // namespace winnow::app
