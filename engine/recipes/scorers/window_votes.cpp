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
  const HeadScores& sums = statistics.at(rows(), reduce_).column_sums;
  HeadScores scores{sums.heads, sums.columns, std::vector<float>(sums.values.size(), -std::numeric_limits<float>::infinity())};
  const auto before = static_cast<std::size_t>(std::max<std::int64_t>(0, segment.tokens - window_));
  for (std::int64_t head = 0; head < scores.heads; ++head)
    pool_scores(sums.row(head).first(before), kernel_, pooling_, scores.row(head).first(before));
  return scores;
}

}  // namespace winnow
