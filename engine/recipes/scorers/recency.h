// Newer is better: the score is the row number.
#pragma once

#include "engine/recipes/scorers/scorer.h"

namespace winnow {

class RecencyScorer : public Scorer {
 public:
  std::string name() const override { return "recency"; }
  HeadScores score(const LayerStatistics& statistics, const SegmentInfo& segment) const override;
  bool follows_decode() const override { return true; }
};

}  // namespace winnow
