// Accumulated attention, with the largest column sum added to every text column: images compete, text stays (LOOK-M, arXiv 2406.18139,
// section 3.2; MEDA).
#pragma once

#include "engine/recipes/scorers/scorer.h"

namespace winnow {

class TextPriorScorer : public Scorer {
 public:
  std::string name() const override { return "text-prior"; }
  StatisticsNeeds needs() const override;
  HeadScores score(const LayerStatistics& statistics, const SegmentInfo& segment) const override;
  bool sums_attention() const override { return true; }
};

}  // namespace winnow
