// What a head was measured to look at beforehand: the same score for all its slots (KVzip's head scores, arXiv 2505.23416, section 4.2).
//
// Errors of score(): kIllegalRecipe where the table is of a model with other layers or heads.
#pragma once

#include "engine/base/per_layer.h"
#include "engine/recipes/head_table.h"
#include "engine/recipes/scorers/context_scorer.h"

namespace winnow {

class MeasuredHeadsScorer : public ContextScorer {
 public:
  // Empty: not measured, which a recipe refuses.
  explicit MeasuredHeadsScorer(HeadTable table) : table_(std::move(table)) {}
  std::string name() const override { return "measured-heads"; }
  std::optional<Refusal> fits(const Composition& parts) const override;
  HeadScores score(const LayerStatistics& statistics, const SegmentInfo& segment) const override;

 private:
  PerLayer<std::vector<double>> table_;  // per kv head
};

}  // namespace winnow
