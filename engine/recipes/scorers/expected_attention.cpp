#include "engine/recipes/scorers/expected_attention.h"

#include <algorithm>

namespace winnow {

StatisticsNeeds ExpectedAttentionScorer::needs() const {
  StatisticsNeeds needs;
  needs.expected = expected_;
  needs.value_norms = true;
  return needs;
}

HeadScores ExpectedAttentionScorer::score(const LayerStatistics& statistics, const SegmentInfo&) const {
  HeadScores scores = statistics.expected;
  const auto epsilon = static_cast<float>(epsilon_);
  std::transform(scores.values.begin(), scores.values.end(), statistics.value_norms.values.begin(), scores.values.begin(),
                 [&](float attention, float norm) { return (attention + epsilon) * norm; });
  return scores;
}

}  // namespace winnow
