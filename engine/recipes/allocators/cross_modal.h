// Layers in which text and images look at each other diffusely get more: softmax over layers of E_TV + E_VT (MEDA, arXiv 2502.17599,
// equations 5-8). Without one of the modalities, or by choice (the released code): mean row entropy of the causal attention of all rows.
#pragma once

#include "engine/recipes/allocators/allocator.h"

namespace winnow {

class CrossModalAllocator : public Allocator {
 public:
  enum class Entropy : int { kCrossModal = 1, kFullAttention = 2 };

  CrossModalAllocator(Entropy entropy, CrossModalNeed cross_modal) : entropy_(entropy), cross_modal_(cross_modal) {}
  std::string name() const override { return "cross-modal-entropy"; }
  std::optional<Refusal> fits(const Composition& parts) const override;
  StatisticsNeeds needs() const override;
  StatisticsNeeds needs_for(const SegmentInfo& segment) const override;
  LayerMeasure measure(const LayerStatistics& statistics, const SegmentInfo& segment) const override;
  std::vector<std::string> measure_names() const override { return {"entropy"}; }
  std::vector<double> weights(std::span<const LayerMeasure> measured) const override;

 private:
  Entropy entropy_;
  CrossModalNeed cross_modal_;
};

}  // namespace winnow
