#include "engine/recipes/scorers/window_votes.h"

#include <algorithm>
#include <limits>

namespace winnow {

RowRule WindowVotesScorer::rows() const { return RowRule::last(window_); }

StatisticsNeeds WindowVotesScorer::needs() const {
  StatisticsNeed need;
  need.rows = rows();
  need.column_sums = true;
  need.reduce = reduce_;
  return {{need}, {}, {}};
}

HeadScores WindowVotesScorer::score(const LayerStatistics& statistics, const SegmentInfo& segment) const {
  HeadScores scores = statistics.at(rows(), reduce_).column_sums;
  const std::int64_t before = std::max<std::int64_t>(0, segment.tokens - window_);
  for (std::int64_t head = 0; head < scores.heads; ++head) {
    const std::span<float> row = scores.row(head);
    const std::vector<float> pooled = pool_scores(row.first(static_cast<std::size_t>(before)), kernel_, pooling_);
    std::copy(pooled.begin(), pooled.end(), row.begin());
    std::fill(row.begin() + before, row.end(), -std::numeric_limits<float>::infinity());
  }
  return scores;
}

}  // namespace winnow
