// Accumulated attention: column sums of all rows (H2O). With `per_row` divided by the number of rows that can see the token, which takes
// away the head start of early tokens.
#pragma once

#include "engine/recipes/scorers/scorer.h"

namespace winnow {

class AccumulatedScorer : public Scorer {
 public:
  explicit AccumulatedScorer(GroupReduce reduce = GroupReduce::kMean, bool per_row = false) : reduce_(reduce), per_row_(per_row) {}
  std::string name() const override { return per_row_ ? "mean-attention" : "accumulated"; }
  StatisticsNeeds needs() const override;
  HeadScores score(const LayerStatistics& statistics, const SegmentInfo& segment) const override;
  bool follows_decode() const override { return !per_row_; }
  bool sums_attention() const override { return true; }

 private:
  GroupReduce reduce_;
  bool per_row_;
};

}  // namespace winnow
