#include "engine/recipes/scorers/mean_deviation.h"

#include <algorithm>
#include <cmath>

namespace winnow {

StatisticsNeeds MeanDeviationScorer::needs() const {
  StatisticsNeed need;
  need.rows = RowRule::all();
  need.column_sums = true;
  need.column_squares = true;
  return {{need}, {}, {}};
}

HeadScores MeanDeviationScorer::score(const LayerStatistics& statistics, const SegmentInfo& segment) const {
  HeadScores means = statistics.at(RowRule::all()).column_sums;
  for (std::int64_t head = 0; head < means.heads; ++head) {
    const std::span<float> row = means.row(head);
    for (std::int64_t j = 0; j < segment.tokens; ++j) row[static_cast<std::size_t>(j)] /= static_cast<float>(segment.rows_that_saw(j));
  }
  return means;
}

HeadScores MeanDeviationScorer::protection_score(const LayerStatistics& statistics, const SegmentInfo& segment) const {
  const HeadScores means = score(statistics, segment);
  HeadScores deviations = statistics.at(RowRule::all()).column_squares;
  for (std::int64_t head = 0; head < deviations.heads; ++head) {
    const std::span<float> row = deviations.row(head);
    for (std::int64_t j = 0; j < segment.tokens; ++j) {
      const auto at = static_cast<std::size_t>(j);
      const double mean = means.row(head)[at];
      row[at] = static_cast<float>(std::sqrt(std::max(0.0, row[at] / static_cast<double>(segment.rows_that_saw(j)) - mean * mean)));
    }
  }
  return deviations;
}

}  // namespace winnow
