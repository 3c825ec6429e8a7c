// Bounds of the texts that the calling thread turns into tokens: the time that it works on one, its asker, who may leave (Cancel), and the
// size of the result.
//
// Asker and size are set by engine/api for each request, and by the one that asks for tokens alone with their number; elsewhere there are
// none. Asked by the tokenizer in its inner loops. A busy machine must not turn a good prompt into an error: time is the thread's work.
// Errors of check_*(): Interrupted, Exception(kLimitExceeded). Threads: each has its own.
#pragma once

#include <time.h>

#include <chrono>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/interrupt.h"

namespace winnow {

// Time that the calling thread has worked. Wall clock where the system cannot tell.
inline std::chrono::nanoseconds thread_work_time() {
#ifdef CLOCK_THREAD_CPUTIME_ID
  timespec now{};
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0) return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
#endif
  return std::chrono::steady_clock::now().time_since_epoch();
}

class TextBounds {
 public:
  explicit TextBounds(InterruptToken interrupt, std::size_t most_tokens = std::numeric_limits<std::size_t>::max())
      : interrupt_(std::move(interrupt)), most_tokens_(most_tokens), before_(current_) {
    current_ = this;
  }
  ~TextBounds() { current_ = before_; }
  TextBounds(const TextBounds&) = delete;
  TextBounds& operator=(const TextBounds&) = delete;

  // Stop is not one: what has been answered so far is still worked on.
  static void check_interrupt() {
    if (current_ != nullptr && current_->interrupt_.state() == Interrupt::kCancel) throw Interrupted(Interrupt::kCancel);
  }
  static void check_tokens(std::size_t tokens) {
    if (current_ != nullptr && tokens > current_->most_tokens_)
      throw Exception(ErrorCode::kLimitExceeded, "", "the text has more than " + std::to_string(current_->most_tokens_) + " tokens");
  }

 private:
  const InterruptToken interrupt_;
  const std::size_t most_tokens_;
  const TextBounds* const before_;
  inline static thread_local const TextBounds* current_ = nullptr;
};

// Time of work after which one text ends with an error. Whoever asks for it ends as well where the text's asker has left.
class Deadline {
 public:
  explicit Deadline(std::chrono::nanoseconds allowed) : end_(thread_work_time() + allowed) {}
  // Cheap enough to ask per word: looks at the clock every 64th time.
  bool passed() {
    if (++asked_ % 64 == 0) {
      TextBounds::check_interrupt();
      late_ = late_ || thread_work_time() > end_;
    }
    return late_;
  }

 private:
  std::chrono::nanoseconds end_;
  unsigned asked_ = 0;
  bool late_ = false;
};

}  // namespace winnow
