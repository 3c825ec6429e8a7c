// Mean attention over the rows that see a token; tokens whose attention fluctuates most are protected (RoCo, Ren and Zhu, arXiv 2402.06262,
// section 3.3): mean_j = c_j / (n - j), deviation_j = sqrt(c2_j / (n - j) - mean_j^2), of the group's mean probabilities.
#pragma once

#include "engine/recipes/scorers/scorer.h"

namespace winnow {

class MeanDeviationScorer : public Scorer {
 public:
  std::string name() const override { return "mean-deviation"; }
  StatisticsNeeds needs() const override;
  HeadScores score(const LayerStatistics& statistics, const SegmentInfo& segment) const override;
  HeadScores protection_score(const LayerStatistics& statistics, const SegmentInfo& segment) const override;
  bool follows_decode() const override { return true; }
};

}  // namespace winnow
