#include "engine/recipes/scorers/temporal_change.h"

#include <limits>

#include "engine/recipes/budget.h"
#include "engine/recipes/composition.h"
#include "engine/recipes/select.h"

namespace winnow {

std::optional<Refusal> TemporalChangeScorer::fits(const Composition& parts) const {
  if (phase_facts(parts.phase).in_clips) return std::nullopt;
  return Refusal{"scorer", name() + " judges what has changed since, clip by clip; start from infinipot-v"};
}

StatisticsNeeds TemporalChangeScorer::needs() const {
  StatisticsNeeds needs;
  needs.value_norms = true;
  needs.change = change_;
  return needs;
}

// Of a segment that did not come in clips nothing has changed yet.
HeadScores TemporalChangeScorer::score(const LayerStatistics& statistics, const SegmentInfo&) const { return statistics.value_norms; }

std::vector<float> TemporalChangeScorer::stream_scores(const StreamedSlots& slots, std::int64_t target) const {
  std::vector<float> scores = slots.value_norms;
  const std::int64_t by_change = target - round_half_up((1.0 - alpha_) * static_cast<double>(target));
  std::vector<std::int32_t> recent;
  for (std::size_t slot = 0; slot < slots.recent.size(); ++slot) {
    if (slots.recent[slot] != 0) recent.push_back(static_cast<std::int32_t>(slot));
  }
  // Where the newest frames alone are more than the share, the first of them stay: `forced` in the order of the slots.
  for (const std::int32_t slot : select_rows(slots.change, by_change, recent))
    scores[static_cast<std::size_t>(slot)] = std::numeric_limits<float>::infinity();
  return scores;
}

}  // namespace winnow
