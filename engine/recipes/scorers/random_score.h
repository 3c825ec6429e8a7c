// A hash of (seed, layer, kv head, original token index): the control that every other scorer has to beat.
#pragma once

#include "engine/recipes/scorers/scorer.h"

namespace winnow {

class RandomScorer : public Scorer {
 public:
  RandomScorer(std::uint64_t seed, bool same_all_layers) : seed_(seed), same_all_layers_(same_all_layers) {}
  std::string name() const override { return "random"; }
  HeadScores score(const LayerStatistics& statistics, const SegmentInfo& segment) const override;
  bool judges_streams() const override { return true; }
  std::vector<float> stream_scores(const StreamedSlots& slots, std::int64_t target) const override;

 private:
  float drawn(LayerId layer, KvHead head, std::int32_t original) const;

  std::uint64_t seed_;
  bool same_all_layers_;  // one draw for all layers and heads
};

}  // namespace winnow
