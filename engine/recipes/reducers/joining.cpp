#include "engine/recipes/reducers/joining.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace winnow {

Merging join(std::span<const MergePair> pairs, Merging::Scale alone, const TakeIn& take_in) {
  Merging merging;
  std::int32_t rows = 0;
  for (const MergePair& pair : pairs) rows = std::max(rows, pair.into + 1);
  std::vector<std::int32_t> place(static_cast<std::size_t>(rows), -1);  // of a row in `scaled`
  for (const MergePair& pair : pairs) {
    std::int32_t& found = place[static_cast<std::size_t>(pair.into)];
    if (found < 0) {
      found = static_cast<std::int32_t>(merging.scaled.size());
      merging.scaled.push_back({pair.into, alone});
    }
    const double weight = take_in(merging.scaled[static_cast<std::size_t>(found)].scale, pair.cosine);
    merging.flows.push_back({pair.row, pair.into, weight});
  }
  return merging;
}

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
