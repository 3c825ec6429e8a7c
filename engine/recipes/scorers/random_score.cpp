#include "engine/recipes/scorers/random_score.h"

#include "engine/recipes/random_hash.h"

namespace winnow {

HeadScores RandomScorer::score(const LayerStatistics& statistics, const SegmentInfo& segment) const {
  const std::int64_t heads = same_all_layers_ ? 1 : segment.kv_heads;
  const LayerId layer = same_all_layers_ ? LayerId(0) : statistics.layer;
  HeadScores scores{heads, segment.tokens, {}};
  scores.values.reserve(static_cast<std::size_t>(heads * segment.tokens));
  for (std::int64_t row_of_head = 0; row_of_head < heads; ++row_of_head) {
    const KvHead head(same_all_layers_ ? 0 : segment.first_head + row_of_head);
    for (std::int64_t row = 0; row < segment.tokens; ++row) {
      scores.values.push_back(random_hash_uniform(seed_, layer, head, segment.original(row)));
    }
  }
  return scores;
}

}  // namespace winnow
