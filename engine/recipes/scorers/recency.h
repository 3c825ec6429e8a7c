// Newer is better: the score is the row number, and of media that come in clips the token's.
#pragma once

#include "engine/recipes/scorers/scorer.h"

namespace winnow {

class RecencyScorer : public Scorer {
 public:
  std::string name() const override { return "recency"; }
  HeadScores score(const LayerStatistics& statistics, const SegmentInfo& segment) const override;
  bool follows_decode() const override { return true; }
  bool judges_streams() const override { return true; }
  std::vector<float> stream_scores(const StreamedSlots& slots, std::int64_t target) const override;
};

}  // namespace winnow
