#include "engine/recipes/slot_choice.h"

#include <algorithm>
#include <numeric>

#include "engine/recipes/budget.h"
#include "engine/recipes/select.h"

namespace winnow {

namespace {

bool is_pinned(const CandidateRows& rows, std::int32_t row) { return std::binary_search(rows.pinned.begin(), rows.pinned.end(), row); }

bool is_visual(const CandidateRows& rows, std::int32_t row) { return is_attached(rows.info.modality[static_cast<std::size_t>(row)]); }

}  // namespace

// Sharing needs two slots to compare.
SlotChoice::SlotChoice(const Composition& parts, std::int64_t kept_tail)
    : scope_(parts.scope),
      protection_(parts.protection),
      spare_(parts.reducer->sharing() != nullptr ? 2 : 1),
      kept_tail_(kept_tail),
      evenly_spaced_(parts.evenly_spaced) {}

std::int64_t SlotChoice::competing(const CandidateRows& rows) const {
  return scope_ == Scope::kAll ? rows.info.tokens : std::ssize(competing_rows(rows));
}

const std::vector<std::int32_t>& SlotChoice::competing_rows(const CandidateRows& rows) const {
  return scope_ == Scope::kVisual ? rows.visual : rows.context;
}

std::int64_t SlotChoice::competing_pins(const CandidateRows& rows) const {
  return scope_ == Scope::kAll ? std::ssize(rows.pinned) : std::ssize(pinned_among(rows));
}

std::vector<std::int32_t> SlotChoice::pinned_among(const CandidateRows& rows) const {
  std::vector<std::int32_t> pinned;
  const std::vector<std::int32_t>& competing = competing_rows(rows);
  for (std::size_t i = 0; i < competing.size(); ++i) {
    if (is_pinned(rows, competing[i])) pinned.push_back(static_cast<std::int32_t>(i));
  }
  return pinned;
}

std::vector<std::int32_t> SlotChoice::beside(const CandidateRows& rows, std::span<const std::int32_t> chosen) const {
  const std::vector<std::int32_t>& competing = competing_rows(rows);
  std::vector<std::int32_t> kept = rows_outside(rows.info.tokens, competing);
  const std::ptrdiff_t beside = std::ssize(kept);
  kept.reserve(kept.size() + chosen.size());
  for (const std::int32_t index : chosen) kept.push_back(competing[static_cast<std::size_t>(index)]);
  if (!std::is_sorted(kept.begin() + beside, kept.end())) std::sort(kept.begin() + beside, kept.end());
  std::inplace_merge(kept.begin(), kept.begin() + beside, kept.end());
  return kept;
}

std::int64_t SlotChoice::protected_slots(const CandidateRows& rows) const {
  if (scope_ != Scope::kAll) return competing_pins(rows);
  const std::int64_t n = rows.info.tokens;
  const auto pinned_in = [&](std::int64_t begin, std::int64_t end) {
    return std::count_if(rows.pinned.begin(), rows.pinned.end(), [&](std::int32_t row) { return row >= begin && row < end; });
  };
  if (protection_.completed_share > 0.0) return pinned_in(0, n - 1) + 1;
  const std::int64_t sinks = rows.info.rows_before(protection_.sinks);
  const std::int64_t window = std::max(protection_.window, kept_tail_);
  return pinned_in(sinks, n - window) + sinks + window + spare_;
}

std::vector<std::int32_t> SlotChoice::choose(const CandidateRows& rows, std::span<const float> scores, std::span<const float> protection,
                                             std::int64_t budget) const {
  if (budget >= competing(rows)) {
    std::vector<std::int32_t> all(static_cast<std::size_t>(rows.info.tokens));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  return scope_ != Scope::kAll ? choose_of_media(rows, scores, budget) : choose_of_all(rows, scores, protection, budget);
}

std::int64_t SlotChoice::count(const CandidateRows& rows, std::int64_t budget) const {
  // The rules that choose are asked with scores that are all alike.
  const std::vector<float> alike(static_cast<std::size_t>(rows.info.tokens), 0.0F);
  return std::ssize(choose(rows, alike, {}, budget));
}

std::vector<std::int32_t> SlotChoice::choose_of_all(const CandidateRows& rows, std::span<const float> scores,
                                                    std::span<const float> protection, std::int64_t budget) const {
  const std::int64_t asked = protection_.recent_share > 0.0 ? share_of(protection_.recent_share, budget) : protection_.window;
  const std::int64_t recent = std::max(asked, kept_tail_);
  if (protection_.all_text) return choose_beside_text(rows, scores, budget, recent);
  std::vector<std::int32_t> forced = rows.pinned;
  for (const std::int32_t row : protected_rows(rows.info.tokens, rows.info.rows_before(protection_.sinks), recent)) {
    if (!is_pinned(rows, row)) forced.push_back(row);
  }
  if (protection_.completed_share > 0.0) {
    const std::int64_t beside_pins =
        std::clamp<std::int64_t>(round_half_up(protection_.completed_share * static_cast<double>(budget)) + protection_.sinks, 1,
                                 std::max<std::int64_t>(1, budget - 1));
    const std::int64_t wanted = std::min(budget, std::max(beside_pins, std::ssize(rows.pinned) + std::max<std::int64_t>(1, kept_tail_)));
    if (std::ssize(forced) > wanted) forced.resize(static_cast<std::size_t>(wanted));
    if (!protection.empty() && std::ssize(forced) < wanted) forced = select_rows(protection, wanted, forced);
  }
  return select_rows(scores, budget, forced);
}

// Only rows of the media compete; all others stay beside the budget.
std::vector<std::int32_t> SlotChoice::choose_of_media(const CandidateRows& rows, std::span<const float> scores, std::int64_t budget) const {
  const std::vector<std::int32_t> pinned = pinned_among(rows);
  if (evenly_spaced_) {
    const std::vector<std::int32_t> free = rows_outside(competing(rows), pinned);
    const std::int64_t left = std::clamp<std::int64_t>(budget - std::ssize(pinned), 0, std::ssize(free));
    std::vector<std::int32_t> chosen = pinned;
    for (std::int64_t i = 0; i < left; ++i) chosen.push_back(free[static_cast<std::size_t>(i * std::ssize(free) / left)]);
    return beside(rows, chosen);
  }
  std::vector<float> competing;
  competing.reserve(competing_rows(rows).size());
  for (const std::int32_t row : competing_rows(rows)) competing.push_back(scores[static_cast<std::size_t>(row)]);
  return beside(rows, select_rows(competing, budget, pinned));
}

// Every text row, every recent row and every pinned row stays; what text before the recent rows leaves of the budget goes to visual rows by
// score.
std::vector<std::int32_t> SlotChoice::choose_beside_text(const CandidateRows& rows, std::span<const float> scores, std::int64_t budget,
                                                         std::int64_t recent) const {
  const std::int64_t first_recent = std::max<std::int64_t>(0, rows.info.tokens - std::max<std::int64_t>(1, recent));
  std::vector<std::int32_t> kept, images;
  std::vector<float> competing;
  for (std::int32_t row = 0; row < rows.info.tokens; ++row) {
    if (!is_visual(rows, row) || row >= first_recent || is_pinned(rows, row)) {
      kept.push_back(row);
    } else {
      images.push_back(row);
      competing.push_back(scores[static_cast<std::size_t>(row)]);
    }
  }
  const std::int64_t left = std::clamp<std::int64_t>(budget - std::ssize(kept), 0, std::ssize(images));
  const std::ptrdiff_t without_images = std::ssize(kept);
  for (const std::int32_t index : select_rows(competing, left, {})) kept.push_back(images[static_cast<std::size_t>(index)]);
  std::inplace_merge(kept.begin(), kept.begin() + without_images, kept.end());
  return kept;
}

}  // namespace winnow
