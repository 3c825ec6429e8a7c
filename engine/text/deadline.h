// Time of work after which one text ends with an error. Used by the tokenizer, its splits and its replacements. Whoever asks for it ends as
// well where the text's asker has left (text_bounds.h).
#pragma once

#include <chrono>

#include "engine/text/text_bounds.h"
#include "engine/text/work_time.h"

namespace winnow {

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
