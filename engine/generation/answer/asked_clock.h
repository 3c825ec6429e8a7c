// Measures TTFT: from Turn::asked, or from the engine's start of the turn if that is not set.
//
// Used by run_turn(). Monotonic clock, milliseconds. Threads: none of its own.
#pragma once

#include <algorithm>
#include <chrono>

#include "engine/base/stopwatch.h"
#include "engine/messages/requests.h"

namespace winnow {

class AskedClock {
 public:
  explicit AskedClock(const Turn& turn) {
    using Clock = std::chrono::steady_clock;
    if (turn.asked != Clock::time_point{})
      waited_ms_ = std::max(0.0, std::chrono::duration<double, std::milli>(Clock::now() - turn.asked).count());
  }

  double waited_ms() const { return waited_ms_; }  // before the engine began
  double elapsed_ms() const { return waited_ms_ + since_begun_.elapsed_ms(); }

 private:
  double waited_ms_ = 0.0;
  Stopwatch since_begun_;
};

}  // namespace winnow
