#include "engine/generation/answer/draft_gains.h"

#include <algorithm>

namespace winnow {
namespace {

constexpr double kMemory = 0.7;    // of what earlier drafts saved, at each draft
constexpr double kSlowdown = 0.1;  // part of a slower step that counts: drafts must beat the quick ones
constexpr int kFirstPause = 8;     // steps
constexpr int kLongestPause = 256;

}  // namespace

bool DraftGains::worth_a_try() {
  if (one_row_ms_ <= 0.0) return false;
  if (steps_to_wait_ == 0) return true;
  --steps_to_wait_;
  return false;
}

void DraftGains::note_step(std::size_t rows, std::size_t kept, double elapsed_ms) {
  if (rows == 1) {
    const bool quicker = one_row_ms_ <= 0.0 || elapsed_ms < one_row_ms_;
    one_row_ms_ = quicker ? elapsed_ms : one_row_ms_ + kSlowdown * (elapsed_ms - one_row_ms_);
    return;
  }
  saved_ms_ = kMemory * saved_ms_ + static_cast<double>(kept) * one_row_ms_ - elapsed_ms;
  if (saved_ms_ >= 0.0) {
    pause_ = 0;
    return;
  }
  pause_ = std::clamp(2 * pause_, kFirstPause, kLongestPause);
  steps_to_wait_ = pause_;
  saved_ms_ = 0.0;
}

}  // namespace winnow
