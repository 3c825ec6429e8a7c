// Keys unlike the others: minus the cosine between a key and the mean direction of all (KeyDiff, arXiv 2504.15364).
#pragma once

#include "engine/recipes/scorers/context_scorer.h"

namespace winnow {

class KeyDifferenceScorer : public ContextScorer {
 public:
  std::string name() const override { return "key-difference"; }
  StatisticsNeeds needs() const override {
    StatisticsNeeds needs;
    needs.key_likeness = true;
    return needs;
  }
  HeadScores score(const LayerStatistics& statistics, const SegmentInfo&) const override {
    HeadScores scores = statistics.key_likeness;
    for (float& score : scores.values) score = -score;
    return scores;
  }
  bool judges_streams() const override { return true; }
  std::vector<float> stream_scores(const StreamedSlots& slots, std::int64_t /*target*/) const override {
    std::vector<float> scores;
    for (const float likeness : slots.key_likeness) scores.push_back(-likeness);
    return scores;
  }
};

}  // namespace winnow
