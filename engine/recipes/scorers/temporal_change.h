// Slots whose place in the picture has changed since, then values of weight: InfiniPot-V's choice as one order.
//
// Kim et al., arXiv 2506.15745v2, Algorithms 1 and 2; code aiha-lab/InfiniPot-V. Of `target` slots a share goes to the newest frames and to
// the older slots that changed most (TaR), the rest to the largest values (VaN). Only in phase stream.
#pragma once

#include <limits>

#include "engine/recipes/budget.h"
#include "engine/recipes/composition.h"
#include "engine/recipes/scorers/context_scorer.h"
#include "engine/recipes/select.h"

namespace winnow {

class TemporalChangeScorer : public ContextScorer {
 public:
  // alpha: share of the target that change and newness take.
  TemporalChangeScorer(double alpha, const ChangeNeed& change) : alpha_(alpha), change_(change) {}
  std::string name() const override { return "temporal-change"; }
  std::optional<Refusal> fits(const Composition& parts) const override {
    if (phase_facts(parts.phase).in_clips) return std::nullopt;
    return Refusal{"scorer", name() + " judges what has changed since, clip by clip; start from infinipot-v"};
  }
  StatisticsNeeds needs() const override { return {.value_norms = true, .change = change_}; }
  // Nothing has changed yet in a segment that did not come in clips.
  HeadScores score(const LayerStatistics& statistics, const SegmentInfo&) const override { return statistics.value_norms; }
  bool judges_streams() const override { return true; }
  // Infinity for those that change or newness brings in, the values' norms for the others.
  std::vector<float> stream_scores(const StreamedSlots& slots, std::int64_t target) const override {
    std::vector<float> scores = slots.value_norms;
    const std::int64_t by_change = target - round_half_up((1.0 - alpha_) * static_cast<double>(target));
    std::vector<std::int32_t> recent;
    for (std::size_t slot = 0; slot < slots.recent.size(); ++slot) {
      if (slots.recent[slot] != 0) recent.push_back(static_cast<std::int32_t>(slot));
    }
    // If the newest frames alone are more than the share, the first of them stay: `forced` in the order of the slots.
    for (const std::int32_t slot : select_rows(slots.change, by_change, recent))
      scores[static_cast<std::size_t>(slot)] = std::numeric_limits<float>::infinity();
    return scores;
  }

 private:
  double alpha_;
  ChangeNeed change_;
};

}  // namespace winnow
