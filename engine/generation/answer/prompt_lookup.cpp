#include "engine/generation/answer/prompt_lookup.h"

#include <algorithm>

namespace winnow {
namespace {

constexpr std::size_t kLeastMatch = 3;  // tokens; shorter ones are common by chance
constexpr std::size_t kLongestMatch = 16;
constexpr double kMemory = 0.7;    // of what earlier drafts saved, at each draft
constexpr double kSlowdown = 0.1;  // part of a slower step that counts: drafts must beat the quick ones
constexpr int kFirstPause = 8;     // steps
constexpr int kLongestPause = 256;

}  // namespace

std::vector<std::int64_t> PromptLookup::draft(std::span<const std::int64_t> text, std::int64_t next, std::size_t most) {
  if (one_row_ms_ <= 0.0 || most == 0) return {};
  if (steps_to_wait_ > 0) {
    --steps_to_wait_;
    return {};
  }
  std::size_t longest = 0;
  std::size_t from = 0;
  for (std::size_t behind = text.size(); behind-- > 1 && longest < kLongestMatch;) {
    if (text[behind] != next) continue;
    std::size_t match = 1;
    while (match < kLongestMatch && match <= behind && text[behind - match] == text[text.size() - match]) ++match;
    if (match <= longest) continue;
    longest = match;
    from = behind + 1;
  }
  if (longest < kLeastMatch) return {};
  std::vector<std::int64_t> drafted;
  while (drafted.size() < std::min(longest, most)) {
    const std::size_t at = from + drafted.size();  // what repeats itself goes on behind `next` with the draft's own beginning
    drafted.push_back(at < text.size() ? text[at] : at == text.size() ? next : drafted[at - text.size() - 1]);
  }
  return drafted;
}

void PromptLookup::note_step(std::size_t rows, std::size_t kept, double elapsed_ms) {
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
