#include "engine/recipes/scorers/random_score.h"

#include "engine/recipes/random_hash.h"

namespace winnow {

HeadScores RandomScorer::score(const LayerStatistics& statistics, const SegmentInfo& segment) const {
  const std::int64_t heads = same_all_layers_ ? 1 : segment.kv_heads;
  const auto layer = static_cast<std::uint64_t>(same_all_layers_ ? 0 : statistics.layer);
  HeadScores scores{heads, segment.tokens, {}};
  scores.values.reserve(static_cast<std::size_t>(heads * segment.tokens));
  for (std::int64_t head = 0; head < heads; ++head) {
    for (std::int64_t row = 0; row < segment.tokens; ++row) {
      scores.values.push_back(random_hash_uniform(seed_, layer,
                                                  static_cast<std::uint64_t>(same_all_layers_ ? 0 : segment.first_head + head),
                                                  static_cast<std::uint64_t>(segment.original(row))));
    }
  }
  return scores;
}

}  // namespace winnow
