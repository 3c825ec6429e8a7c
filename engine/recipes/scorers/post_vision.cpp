#include "engine/recipes/scorers/post_vision.h"

namespace winnow {

StatisticsNeeds PostVisionScorer::needs() const {
  StatisticsNeed need;
  need.rows = rows_;
  need.column_sums = true;
  return {{need}, {}, {}};
}

HeadScores PostVisionScorer::score(const LayerStatistics& statistics, const SegmentInfo&) const { return statistics.at(rows_).column_sums; }

}  // namespace winnow
