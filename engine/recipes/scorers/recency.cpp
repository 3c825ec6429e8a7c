#include "engine/recipes/scorers/recency.h"

#include <numeric>

namespace winnow {

HeadScores RecencyScorer::score(const LayerStatistics&, const SegmentInfo& segment) const {
  HeadScores scores{1, segment.tokens, std::vector<float>(static_cast<std::size_t>(segment.tokens))};
  std::iota(scores.values.begin(), scores.values.end(), 0.0F);  // exact: a segment has far fewer than 2^24 tokens
  return scores;
}

std::vector<float> RecencyScorer::stream_scores(const StreamedSlots& slots, std::int64_t) const {
  std::vector<float> scores;
  // Counted from the oldest that is left, so that a float tells two neighbours apart however long the stream is.
  for (const std::int32_t original : slots.originals) scores.push_back(static_cast<float>(original - slots.originals.front()));
  return scores;
}

}  // namespace winnow
