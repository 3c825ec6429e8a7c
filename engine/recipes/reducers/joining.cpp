#include "engine/recipes/reducers/joining.h"

#include <cmath>
#include <utility>

namespace winnow {

Merging SimilarityReducer::joined(std::vector<MergePair> pairs, double threshold) const {
  std::erase_if(pairs, [](const MergePair& pair) { return std::isnan(pair.cosine); });
  admit(pairs, threshold);
  return join(pairs, alone(), [this](Merging::Scale& target, float cosine) { return take_in(target, cosine); });
}

Merging SimilarityReducer::at_event(const EventSlots& slots) const {
  return joined({slots.nearest.begin(), slots.nearest.end()}, slots.threshold);
}

Merging SimilarityReducer::at_step(const LeavingSlot& slot) const { return joined({slot.nearest}, slot.threshold); }

}  // namespace winnow
