// Elapsed time on the monotonic clock, in milliseconds.
#pragma once

#include <chrono>

namespace winnow {

class Stopwatch {
 public:
  double elapsed_ms() const { return std::chrono::duration<double, std::milli>(Clock::now() - start_).count(); }
  double restart_ms() {
    const double elapsed = elapsed_ms();
    start_ = Clock::now();
    return elapsed;
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

}  // namespace winnow
