#include "engine/recipes/reducers/nearest_index.h"

#include "engine/recipes/composition.h"
#include "engine/recipes/reducers/joining.h"

namespace winnow {

std::optional<Refusal> NearestIndexReducer::fits(const Composition& parts) const {
  if (parts.phase != MethodPhase::kDecode) return std::nullopt;
  return Refusal{"reducer", "merging into the nearest index works at the event only; this method evicts while decoding"};
}

Merging NearestIndexReducer::at_event(const EventSlots& slots) const {
  const SegmentInfo& candidates = slots.candidates;
  const std::int64_t first = candidates.retained != nullptr ? candidates.rows_before(fixed_first_) : fixed_first_;
  std::vector<std::int32_t> anchors;
  for (const std::int32_t row : slots.kept) {
    if (row >= first && row != candidates.tokens - 1) anchors.push_back(row);
  }
  return join(nearest_by_index(candidates, slots.leaving, anchors), {}, take_in_evenly);
}

std::vector<MergePair> nearest_by_index(const SegmentInfo& candidates, std::span<const std::int32_t> leaving,
                                        std::span<const std::int32_t> anchors) {
  std::vector<MergePair> pairs;
  if (anchors.empty()) return pairs;
  std::size_t at = 0;  // the first anchor at or after the leaving row
  for (const std::int32_t row : leaving) {
    const std::int32_t token = candidates.original(row);
    while (at < anchors.size() && candidates.original(anchors[at]) < token) ++at;
    const bool has_next = at < anchors.size();
    const bool before_is_nearer =
        at > 0 && (!has_next || token - candidates.original(anchors[at - 1]) <= candidates.original(anchors[at]) - token);
    pairs.push_back({row, before_is_nearer ? anchors[at - 1] : anchors[at], 0.0F});
  }
  return pairs;
}

}  // namespace winnow
