// Layers whose column sums are even (dense attention) get more: softmax over layers of -F (D2O, Wan et al., ICLR 2025, arXiv 2406.13035,
// section 3.2).
//
// F by `norm`: head_minmax (the released code): every query head's sample variance of its column sums, mapped to [0, 1] over the heads of
// the layer, then the mean; raw (the paper): the mean population variance; layer_minmax: raw, mapped to [0, 1] over the layers.
#pragma once

#include "engine/recipes/allocators/allocator.h"

namespace winnow {

class InverseVarianceAllocator : public Allocator {
 public:
  enum class Norm : int { kHeadMinMax = 1, kRaw = 2, kLayerMinMax = 3 };

  explicit InverseVarianceAllocator(Norm norm) : norm_(norm) {}
  std::string name() const override { return "inverse-variance"; }
  StatisticsNeeds needs() const override;
  LayerMeasure measure(const LayerStatistics& statistics, const SegmentInfo& segment) const override;
  std::vector<std::string> measure_names() const override { return {"variance"}; }
  std::vector<double> weights(std::span<const LayerMeasure> measured) const override;

 private:
  Norm norm_;
};

}  // namespace winnow
