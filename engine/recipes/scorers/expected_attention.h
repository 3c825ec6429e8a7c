// Attention that later queries are expected to give a slot: (a_j + epsilon) norm(v_j) (Expected Attention, arXiv 2510.00636).
//
// a_j: statistics' expected attention. epsilon keeps slots with large values that nothing is expected to look at.
#pragma once

#include <algorithm>

#include "engine/recipes/scorers/context_scorer.h"

namespace winnow {

class ExpectedAttentionScorer : public ContextScorer {
 public:
  ExpectedAttentionScorer(ExpectedNeed expected, double epsilon) : expected_(expected), epsilon_(epsilon) {}
  std::string name() const override { return "expected-attention"; }
  StatisticsNeeds needs() const override {
    StatisticsNeeds needs;
    needs.expected = expected_;
    needs.value_norms = true;
    return needs;
  }
  HeadScores score(const LayerStatistics& statistics, const SegmentInfo&) const override {
    HeadScores scores = statistics.expected;
    const auto epsilon = static_cast<float>(epsilon_);
    std::transform(scores.values.begin(), scores.values.end(), statistics.value_norms.values.begin(), scores.values.begin(),
                   [&](float attention, float norm) { return (attention + epsilon) * norm; });
    return scores;
  }

 private:
  ExpectedNeed expected_;
  double epsilon_;
};

}  // namespace winnow
