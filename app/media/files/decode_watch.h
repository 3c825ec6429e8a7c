// Ends media work that the user stopped or that takes too long.
//
// Armed at the start of every public call with the caller's token and a wall-clock budget on the monotonic clock; polled between packets
// (check) and by FFmpeg inside its own loops (shouldStop, which never throws). Threads: arm and check on the calling thread; shouldStop
// also from FFmpeg's threads while that call runs.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/interrupt.h"

namespace winnow::app {

class DecodeWatch {
 public:
  using Clock = std::chrono::steady_clock;

  void arm(InterruptToken token, std::int64_t budgetMs) {
    m_token = std::move(token);
    m_budgetMs = budgetMs;
    m_deadline = Clock::now() + std::chrono::milliseconds(budgetMs);
  }

  bool shouldStop() const noexcept { return m_token.requested() || Clock::now() >= m_deadline; }

  // Throws Interrupted, or kLimitExceeded when the budget is spent.
  void check(const std::string& subject) const {
    m_token.throw_if_requested();
    if (Clock::now() >= m_deadline) {
      throw Exception(ErrorCode::kLimitExceeded, subject,
                      "reading it took longer than the " + std::to_string(m_budgetMs / 1000) + " s that one step may take");
    }
  }

  // The shape that FFmpeg wants for AVIOInterruptCB.
  static int callback(void* watch) { return static_cast<const DecodeWatch*>(watch)->shouldStop() ? 1 : 0; }

 private:
  InterruptToken m_token;
  std::int64_t m_budgetMs = 0;
  Clock::time_point m_deadline = Clock::time_point::max();
};

}  // namespace winnow::app
