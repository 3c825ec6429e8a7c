#include "engine/recipes/scorers/measured_heads.h"

#include "engine/base/error.h"
#include "engine/recipes/measured_options.h"

namespace winnow {

std::optional<Refusal> MeasuredHeadsScorer::fits(const Composition& parts) const {
  if (table_.empty()) {
    return Refusal{
        kHeadTableOption,
        "it was not measured for this model how much its heads look at videos (kvzip_head_scores in winnow.json); give it as the "
        "option head_scores=0.9:0.6/0.8:0.9, layers by / and heads by colons"};
  }
  return ContextScorer::fits(parts);
}

HeadScores MeasuredHeadsScorer::score(const LayerStatistics& statistics, const SegmentInfo& segment) const {
  if (table_.layers() != segment.layers || std::ssize(table_.front()) != segment.kv_heads) {
    throw Exception(ErrorCode::kIllegalRecipe, kHeadTableOption,
                    "these are " + std::to_string(table_.layers()) + " layers of " + std::to_string(table_.front().size()) +
                        " heads; this model has " + std::to_string(segment.layers) + " of " + std::to_string(segment.kv_heads));
  }
  HeadScores scores{segment.kv_heads, segment.tokens, {}};
  for (const double score : table_[statistics.layer])
    scores.values.insert(scores.values.end(), static_cast<std::size_t>(segment.tokens), static_cast<float>(score));
  return scores;
}

}  // namespace winnow
