// The attention of a head measured beforehand: the same score for all its slots (KVzip's head scores, arXiv 2505.23416, section 4.2).
//
// Errors of score(): kIllegalRecipe where the table is of a model with other layers or heads.
#pragma once

#include "engine/base/error.h"
#include "engine/base/per_layer.h"
#include "engine/recipes/head_table.h"
#include "engine/recipes/measured_options.h"
#include "engine/recipes/scorers/context_scorer.h"

namespace winnow {

class MeasuredHeadsScorer : public ContextScorer {
 public:
  // Empty: not measured, which a recipe refuses.
  explicit MeasuredHeadsScorer(HeadTable table) : table_(std::move(table)) {}
  std::string name() const override { return "measured-heads"; }
  std::optional<Refusal> fits(const Composition& parts) const override {
    if (table_.empty()) {
      return Refusal{
          kHeadTableOption,
          "it was not measured for this model how much its heads look at videos (kvzip_head_scores in winnow.json); give it as the "
          "option head_scores=0.9:0.6/0.8:0.9, layers by / and heads by colons"};
    }
    return ContextScorer::fits(parts);
  }
  HeadScores score(const LayerStatistics& statistics, const SegmentInfo& segment) const override {
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

 private:
  PerLayer<std::vector<double>> table_;  // per kv head
};

}  // namespace winnow
