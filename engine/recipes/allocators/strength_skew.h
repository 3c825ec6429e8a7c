// Layers whose visual attention is strong and concentrated get more (AirCache, arXiv 2503.23956, equations 7-11).
//
// weight = (strength / mean strength + skew / mean positive skew) / 2 over layers; a negative skew counts as 0; if no layer has a positive
// one, all count as 1. Options of the ablation: only one of the two, skew mapped to [0, 1] first, layers alike.
#pragma once

#include "engine/recipes/allocators/allocator.h"

namespace winnow {

class StrengthSkewAllocator : public Allocator {
 public:
  enum class Use : int { kBoth = 1, kStrength = 2, kSkew = 3 };
  enum class SkewNorm : int { kMeanOne = 1, kMinMax = 2 };

  StrengthSkewAllocator(EliteNeed elite, Use use, SkewNorm skew_norm) : elite_(elite), use_(use), skew_norm_(skew_norm) {}
  std::string name() const override { return "strength-skew"; }
  StatisticsNeeds needs() const override;
  LayerMeasure measure(const LayerStatistics& statistics, const SegmentInfo& segment) const override;
  std::vector<std::string> measure_names() const override { return {"strength", "skew"}; }
  std::vector<double> weights(std::span<const LayerMeasure> measured) const override;

 private:
  EliteNeed elite_;
  Use use_;
  SkewNorm skew_norm_;
};

}  // namespace winnow
