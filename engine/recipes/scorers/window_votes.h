// An observation window at the segment's end votes for the tokens before it; pooling keeps neighbourhoods together (SnapKV).
//
// Score = pooled column sums of the last `window` rows over the columns before the window. The window itself is the recipe's protected
// recent range; its columns rank last here.
#pragma once

#include <algorithm>
#include <limits>

#include "engine/recipes/pooling.h"
#include "engine/recipes/scorers/scorer.h"

namespace winnow {

class WindowVotesScorer : public Scorer {
 public:
  WindowVotesScorer(std::int64_t window, std::int64_t kernel, Pooling pooling, GroupReduce reduce = GroupReduce::kMean)
      : window_(window), kernel_(kernel), pooling_(pooling), reduce_(reduce) {}
  std::string name() const override { return "window-votes"; }
  StatisticsNeeds needs() const override {
    StatisticsNeed need{.rows = rows(), .column_sums = true, .reduce = reduce_};
    return {{need}, {}, {}};
  }
  HeadScores score(const LayerStatistics& statistics, const SegmentInfo& segment) const override {
    const HeadScores& sums = statistics.at(rows(), reduce_).column_sums;
    HeadScores scores{sums.heads, sums.columns, std::vector<float>(sums.values.size(), -std::numeric_limits<float>::infinity())};
    const auto before = static_cast<std::size_t>(std::max<std::int64_t>(0, segment.tokens - window_));
    for (std::int64_t head = 0; head < scores.heads; ++head)
      pool_scores(sums.row(head).first(before), kernel_, pooling_, scores.row(head).first(before));
    return scores;
  }
  bool sums_attention() const override { return true; }
  bool observes_from_a_window() const override { return true; }

 private:
  RowRule rows() const { return RowRule::last(window_); }
  std::int64_t window_;
  std::int64_t kernel_;
  Pooling pooling_;
  GroupReduce reduce_;
};

}  // namespace winnow
