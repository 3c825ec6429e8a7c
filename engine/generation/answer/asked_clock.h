// How long a question has been waiting for its first word: from when it was asked, or, where nobody says when, from when the engine began.
//
// The one place where that time begins; used by run_turn(). Monotonic clock, milliseconds. Threads: none of its own.
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
