// Accumulated attention: column sums of all rows (H2O). With `per_row` divided by the number of rows that can see the token, which takes
// away the head start of early tokens.
#pragma once

#include "engine/recipes/scorers/scorer.h"

namespace winnow {

class AccumulatedScorer : public Scorer {
 public:
  explicit AccumulatedScorer(GroupReduce reduce = GroupReduce::kMean, bool per_row = false) : reduce_(reduce), per_row_(per_row) {}
  std::string name() const override { return per_row_ ? "mean-attention" : "accumulated"; }
  StatisticsNeeds needs() const override {
    StatisticsNeed need;
    need.rows = RowRule::all();
    need.column_sums = true;
    need.reduce = reduce_;
    return {{need}, {}, {}};
  }
  HeadScores score(const LayerStatistics& statistics, const SegmentInfo& segment) const override {
    HeadScores scores = statistics.at(RowRule::all(), reduce_).column_sums;
    if (!per_row_) return scores;
    for (std::int64_t head = 0; head < scores.heads; ++head) {
      const std::span<float> row = scores.row(head);
      for (std::int64_t j = 0; j < segment.tokens; ++j) row[static_cast<std::size_t>(j)] /= static_cast<float>(segment.rows_that_saw(j));
    }
    return scores;
  }
  bool follows_decode() const override { return !per_row_; }
  bool sums_attention() const override { return true; }

 private:
  GroupReduce reduce_;
  bool per_row_;
};

}  // namespace winnow
