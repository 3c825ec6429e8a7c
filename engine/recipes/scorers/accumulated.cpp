#include "engine/recipes/scorers/accumulated.h"

namespace winnow {

StatisticsNeeds AccumulatedScorer::needs() const {
  StatisticsNeed need;
  need.rows = RowRule::all();
  need.column_sums = true;
  need.reduce = reduce_;
  return {{need}, {}, {}};
}

HeadScores AccumulatedScorer::score(const LayerStatistics& statistics, const SegmentInfo& segment) const {
  HeadScores scores = statistics.at(RowRule::all(), reduce_).column_sums;
  if (!per_row_) return scores;
  for (std::int64_t head = 0; head < scores.heads; ++head) {
    const std::span<float> row = scores.row(head);
    for (std::int64_t j = 0; j < segment.tokens; ++j) row[static_cast<std::size_t>(j)] /= static_cast<float>(segment.rows_that_saw(j));
  }
  return scores;
}

}  // namespace winnow
