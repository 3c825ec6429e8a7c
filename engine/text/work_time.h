// Time that the calling thread has worked. Used by the limits of tokenizer and chat template: a busy machine must not turn a good prompt
// into an error. Wall clock where the system cannot tell.
#pragma once

#include <time.h>

#include <chrono>

namespace winnow {

inline std::chrono::nanoseconds thread_work_time() {
#ifdef CLOCK_THREAD_CPUTIME_ID
  timespec now{};
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0) return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
#endif
  return std::chrono::steady_clock::now().time_since_epoch();
}

}  // namespace winnow
