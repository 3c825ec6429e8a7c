// Newer is better: the score is the row number, and of media that come in clips the token's.
#pragma once

#include <numeric>

#include "engine/recipes/scorers/scorer.h"

namespace winnow {

class RecencyScorer : public Scorer {
 public:
  std::string name() const override { return "recency"; }
  HeadScores score(const LayerStatistics&, const SegmentInfo& segment) const override {
    HeadScores scores{1, segment.tokens, std::vector<float>(static_cast<std::size_t>(segment.tokens))};
    std::iota(scores.values.begin(), scores.values.end(), 0.0F);  // exact: a segment has far fewer than 2^24 tokens
    return scores;
  }
  bool follows_decode() const override { return true; }
  bool judges_streams() const override { return true; }
  std::vector<float> stream_scores(const StreamedSlots& slots, std::int64_t) const override {
    std::vector<float> scores;
    // Counted from the oldest that is left, so that a float tells two neighbours apart however long the stream is.
    for (const std::int32_t original : slots.originals) scores.push_back(static_cast<float>(original - slots.originals.front()));
    return scores;
  }
};

}  // namespace winnow
