#include "engine/recipes/scorers/key_difference.h"

namespace winnow {

StatisticsNeeds KeyDifferenceScorer::needs() const {
  StatisticsNeeds needs;
  needs.key_likeness = true;
  return needs;
}

HeadScores KeyDifferenceScorer::score(const LayerStatistics& statistics, const SegmentInfo&) const {
  HeadScores scores = statistics.key_likeness;
  for (float& score : scores.values) score = -score;
  return scores;
}

}  // namespace winnow
