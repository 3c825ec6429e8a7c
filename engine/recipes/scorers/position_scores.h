// Scores that look at no statistics: by a token's place alone, or by a hash of it.
#pragma once

#include <numeric>

#include "engine/recipes/random_hash.h"
#include "engine/recipes/scorers/scorer.h"

namespace winnow {

// A hash of (seed, layer, kv head, original token index): the control that every other scorer has to beat.
class RandomScorer : public Scorer {
 public:
  RandomScorer(std::uint64_t seed, bool same_all_layers) : seed_(seed), same_all_layers_(same_all_layers) {}
  std::string name() const override { return "random"; }
  HeadScores score(const LayerStatistics& statistics, const SegmentInfo& segment) const override {
    const std::int64_t heads = same_all_layers_ ? 1 : segment.kv_heads;
    HeadScores scores{heads, segment.tokens, {}};
    scores.values.reserve(static_cast<std::size_t>(heads * segment.tokens));
    for (std::int64_t row_of_head = 0; row_of_head < heads; ++row_of_head) {
      const KvHead head(segment.first_head + row_of_head);
      for (std::int64_t row = 0; row < segment.tokens; ++row) scores.values.push_back(drawn(statistics.layer, head, segment.original(row)));
    }
    return scores;
  }
  bool judges_streams() const override { return true; }
  std::vector<float> stream_scores(const StreamedSlots& slots, std::int64_t) const override {
    std::vector<float> scores;
    for (const std::int32_t original : slots.originals) scores.push_back(drawn(slots.layer, slots.head, original));
    return scores;
  }

 private:
  float drawn(LayerId layer, KvHead head, std::int32_t original) const {
    return random_hash_uniform(seed_, same_all_layers_ ? LayerId(0) : layer, same_all_layers_ ? KvHead(0) : head, original);
  }

  std::uint64_t seed_;
  bool same_all_layers_;  // one draw for all layers and heads
};

// Newer is better: the score is the row number, and of media that come in clips the token's.
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
