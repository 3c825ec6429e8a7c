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

std::vector<float> KeyDifferenceScorer::stream_scores(const StreamedSlots& slots, std::int64_t /*target*/) const {
  std::vector<float> scores;
  for (const float likeness : slots.key_likeness) scores.push_back(-likeness);
  return scores;
}

}  // namespace winnow
