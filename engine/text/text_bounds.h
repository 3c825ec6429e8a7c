// Bounds of the texts that the calling thread turns into tokens, beside time: their asker may leave (Cancel), and the result has a
// size.
//
// Set by engine/api for each request, and by the one that asks for tokens alone with their number; asked by the tokenizer in its inner
// loops, with Deadline. Elsewhere there are none. Errors of check_*(): Interrupted, Exception(kLimitExceeded). Threads: each has its own.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/interrupt.h"

namespace winnow {

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

}  // namespace winnow
