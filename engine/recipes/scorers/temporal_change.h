// Slots whose place in the picture has changed since, then values of weight: InfiniPot-V's choice as one order.
//
// Kim et al., arXiv 2506.15745v2, Algorithms 1 and 2; code aiha-lab/InfiniPot-V. Of `target` slots a share goes to the newest frames and to
// the older slots that changed most (TaR), the rest to the largest values (VaN). Only in phase stream.
#pragma once

#include "engine/recipes/scorers/context_scorer.h"

namespace winnow {

class TemporalChangeScorer : public ContextScorer {
 public:
  // alpha: share of the target that change and newness take.
  TemporalChangeScorer(double alpha, const ChangeNeed& change) : alpha_(alpha), change_(change) {}
  std::string name() const override { return "temporal-change"; }
  std::optional<Refusal> fits(const Composition& parts) const override;
  StatisticsNeeds needs() const override;
  HeadScores score(const LayerStatistics& statistics, const SegmentInfo& segment) const override;
  bool judges_streams() const override { return true; }
  // Infinity for those that change or newness brings in, the values' norms for the others.
  std::vector<float> stream_scores(const StreamedSlots& slots, std::int64_t target) const override;

 private:
  double alpha_;
  ChangeNeed change_;
};

}  // namespace winnow
