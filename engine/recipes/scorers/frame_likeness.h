// How much a frame is like a question: every slot has its frame's score, so that whole frames are fetched, the best first (ReKV).
#pragma once

#include "engine/recipes/scorers/scorer.h"

namespace winnow {

class FrameLikenessScorer : public Scorer {
 public:
  explicit FrameLikenessScorer(bool cosine) : cosine_(cosine) {}
  std::string name() const override { return "frame-likeness"; }
  std::optional<Refusal> fits(const Composition& parts) const override;
  StatisticsNeeds needs() const override;
  HeadScores score(const LayerStatistics& statistics, const SegmentInfo& segment) const override;

 private:
  bool cosine_;
};

}  // namespace winnow
