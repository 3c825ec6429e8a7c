// How much a frame is like a question: every slot has its frame's score, so that whole frames are fetched, the best first (ReKV).
#pragma once

#include "engine/base/error.h"
#include "engine/recipes/composition.h"
#include "engine/recipes/scorers/scorer.h"

namespace winnow {

class FrameLikenessScorer : public Scorer {
 public:
  explicit FrameLikenessScorer(bool cosine) : cosine_(cosine) {}
  std::string name() const override { return "frame-likeness"; }
  std::optional<Refusal> fits(const Composition& parts) const override {
    if (phase_facts(parts.phase).fetches) return std::nullopt;
    return Refusal{"scorer", name() + " compares frames with a question when it comes; start from rekv"};
  }
  StatisticsNeeds needs() const override {
    StatisticsNeeds needs;
    needs.probe = QuestionProbe{cosine_};
    return needs;
  }
  HeadScores score(const LayerStatistics& statistics, const SegmentInfo&) const override {
    require(statistics.probe.has_value(), "FrameLikenessScorer: there was no question");
    return *statistics.probe;
  }

 private:
  bool cosine_;
};

}  // namespace winnow
