// Every slot that leaves is averaged into the kept slot whose token lies nearest in the text (Elastic Cache, arXiv 2407.18121, section
// 3.2). The fixed first slots and the last one take nobody in. At the event only.
#pragma once

#include "engine/recipes/reducers/reducer.h"

namespace winnow {

class NearestIndexReducer : public Reducer {
 public:
  // fixed_first: first slots that are no anchors.
  explicit NearestIndexReducer(std::int64_t fixed_first = 1) : fixed_first_(fixed_first) {}
  std::string name() const override { return "nearest-index"; }
  std::optional<Refusal> fits(const Composition& parts) const override;
  Merging at_event(const EventSlots& slots) const override;

 private:
  std::int64_t fixed_first_;
};

// Per leaving row the row among `anchors` (ascending) with the nearest token number, ties to the smaller row; none without anchors.
std::vector<MergePair> nearest_by_index(const SegmentInfo& candidates, std::span<const std::int32_t> leaving,
                                        std::span<const std::int32_t> anchors);

}  // namespace winnow
