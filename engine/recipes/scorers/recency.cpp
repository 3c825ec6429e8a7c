#include "engine/recipes/scorers/recency.h"

#include <numeric>

namespace winnow {

HeadScores RecencyScorer::score(const LayerStatistics&, const SegmentInfo& segment) const {
  HeadScores scores{1, segment.tokens, std::vector<float>(static_cast<std::size_t>(segment.tokens))};
  std::iota(scores.values.begin(), scores.values.end(), 0.0F);  // exact: a segment has far fewer than 2^24 tokens
  return scores;
}

}  // namespace winnow
