#include "engine/recipes/scorers/text_prior.h"

#include <algorithm>

namespace winnow {

StatisticsNeeds TextPriorScorer::needs() const {
  StatisticsNeed need;
  need.rows = RowRule::all();
  need.column_sums = true;
  return {{need}, {}, {}};
}

HeadScores TextPriorScorer::score(const LayerStatistics& statistics, const SegmentInfo& segment) const {
  HeadScores scores = statistics.at(RowRule::all()).column_sums;
  for (std::int64_t head = 0; head < scores.heads; ++head) {
    const std::span<float> row = scores.row(head);
    const float largest = *std::max_element(row.begin(), row.end());
    for (std::size_t j = 0; j < row.size(); ++j) {
      if (!is_attached(segment.modality[j])) row[j] += largest;
    }
  }
  return scores;
}

}  // namespace winnow
