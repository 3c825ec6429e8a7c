// Keys unlike the others: minus the cosine between a key and the mean direction of all (KeyDiff, arXiv 2504.15364).
#pragma once

#include "engine/recipes/scorers/context_scorer.h"

namespace winnow {

class KeyDifferenceScorer : public ContextScorer {
 public:
  std::string name() const override { return "key-difference"; }
  StatisticsNeeds needs() const override;
  HeadScores score(const LayerStatistics& statistics, const SegmentInfo& segment) const override;
  bool judges_streams() const override { return true; }
  std::vector<float> stream_scores(const StreamedSlots& slots, std::int64_t target) const override;
};

}  // namespace winnow
