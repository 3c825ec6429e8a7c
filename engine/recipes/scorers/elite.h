// Attention of the instruction's elite tokens (AirCache, arXiv 2503.23956, equations 7-8). Visual columns only: made for scope visual.
#pragma once

#include "engine/recipes/scorers/scorer.h"

namespace winnow {

class EliteScorer : public Scorer {
 public:
  explicit EliteScorer(EliteNeed elite) : elite_(elite) {}
  std::string name() const override { return "elite"; }
  StatisticsNeeds needs() const override { return {{}, {}, elite_}; }
  HeadScores score(const LayerStatistics& statistics, const SegmentInfo&) const override { return statistics.elite->importance; }

 private:
  EliteNeed elite_;
};

}  // namespace winnow
