// A hash of (seed, layer, kv head, original token index): the control that every other scorer has to beat.
#pragma once

#include "engine/recipes/random_hash.h"
#include "engine/recipes/scorers/scorer.h"

namespace winnow {

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

}  // namespace winnow
