#include "engine/recipes/allocators/cross_modal.h"

#include <algorithm>

#include "engine/recipes/allocators/softmax_weights.h"
#include "engine/recipes/composition.h"

namespace winnow {

std::optional<Refusal> CrossModalAllocator::fits(const Composition& parts) const {
  if (parts.scope != Scope::kVisual) return std::nullopt;
  return Refusal{"scope", "cross-modal entropy shares slots among all tokens; it does not fit scope visual"};
}

StatisticsNeeds CrossModalAllocator::needs() const {
  StatisticsNeed entropy;
  entropy.rows = RowRule::all();
  entropy.row_entropy = true;
  StatisticsNeeds needs{{entropy}, {}, {}};
  if (entropy_ == Entropy::kCrossModal) needs.cross_modal = cross_modal_;
  return needs;
}

// The entropy of all rows is there for segments that lack a modality.
StatisticsNeeds CrossModalAllocator::needs_for(const SegmentInfo& segment) const {
  const auto visual = std::count_if(segment.modality.begin(), segment.modality.end(), is_attached);
  const bool both = visual > 0 && visual < std::ssize(segment.modality);
  if (entropy_ == Entropy::kCrossModal && both) return {{}, cross_modal_, {}};
  return needs();
}

LayerMeasure CrossModalAllocator::measure(const LayerStatistics& statistics, const SegmentInfo&) const {
  if (statistics.cross_modal && statistics.cross_modal->defined) {
    return {statistics.cross_modal->text_to_visual + statistics.cross_modal->visual_to_text};
  }
  return {statistics.at(RowRule::all()).row_entropy};
}

std::vector<double> CrossModalAllocator::weights(std::span<const LayerMeasure> measured) const {
  std::vector<double> entropies;
  for (const LayerMeasure& layer : measured) entropies.push_back(layer.at(0));
  return softmax_weights(entropies);
}

}  // namespace winnow
