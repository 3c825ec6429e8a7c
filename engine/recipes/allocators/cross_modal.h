// Layers in which text and images look at each other diffusely get more: softmax over layers of E_TV + E_VT (MEDA, arXiv 2502.17599,
// equations 5-8). Without one of the modalities, or by choice (the released code): mean row entropy of the causal attention of all rows.
#pragma once

#include <algorithm>

#include "engine/recipes/allocators/allocator.h"
#include "engine/recipes/allocators/softmax_weights.h"
#include "engine/recipes/composition.h"

namespace winnow {

class CrossModalAllocator : public Allocator {
 public:
  enum class Entropy : int { kCrossModal = 1, kFullAttention = 2 };

  CrossModalAllocator(Entropy entropy, CrossModalNeed cross_modal) : entropy_(entropy), cross_modal_(cross_modal) {}
  std::string name() const override { return "cross-modal-entropy"; }
  std::optional<Refusal> fits(const Composition& parts) const override {
    if (parts.scope != Scope::kVisual) return std::nullopt;
    return Refusal{"scope", "cross-modal entropy shares slots among all tokens; it does not fit scope visual"};
  }
  StatisticsNeeds needs() const override {
    StatisticsNeed entropy{.rows = RowRule::all(), .row_entropy = true};
    StatisticsNeeds needs{{entropy}, {}, {}};
    if (entropy_ == Entropy::kCrossModal) needs.cross_modal = cross_modal_;
    return needs;
  }
  // The entropy of all rows is there for segments that lack a modality.
  StatisticsNeeds needs_for(const SegmentInfo& segment) const override {
    const auto visual = std::count_if(segment.modality.begin(), segment.modality.end(), is_attached);
    const bool both = visual > 0 && visual < std::ssize(segment.modality);
    if (entropy_ == Entropy::kCrossModal && both) return {{}, cross_modal_, {}};
    return needs();
  }
  LayerMeasure measure(const LayerStatistics& statistics, const SegmentInfo&) const override {
    if (statistics.cross_modal && statistics.cross_modal->defined) {
      return {statistics.cross_modal->text_to_visual + statistics.cross_modal->visual_to_text};
    }
    return {statistics.at(RowRule::all()).row_entropy};
  }
  std::vector<std::string> measure_names() const override { return {"entropy"}; }
  std::vector<double> weights(std::span<const LayerMeasure> measured) const override {
    std::vector<double> entropies;
    for (const LayerMeasure& layer : measured) entropies.push_back(layer.at(0));
    return softmax_weights(entropies);
  }

 private:
  Entropy entropy_;
  CrossModalNeed cross_modal_;
};

}  // namespace winnow
