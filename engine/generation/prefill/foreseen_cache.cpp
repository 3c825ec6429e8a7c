#include "engine/generation/prefill/foreseen_cache.h"

#include <algorithm>

namespace winnow {

std::int64_t blocks_held(const KvCache& cache) {
  std::int64_t held = 0;
  for (LayerId layer{0}; layer < cache.shape().layers; ++layer) {
    for (KvHead head{0}; head < cache.shape().kv_heads; ++head) held += KvCache::blocks_for(cache.slots(layer, head));
  }
  return held;
}

ForeseenCache foresee_cache(const KvCache& before, const LayerSlots& slots, bool layer_by_layer) {
  const bool on_the_way = slots.layer_by_layer && layer_by_layer;
  const KvShape& shape = before.shape();
  std::int64_t held = blocks_held(before);
  ForeseenCache cache;
  cache.peak_blocks = held;
  const auto earlier_slots = [&](LayerId layer, KvHead head, std::int64_t more = 0) {  // that a window has not passed by then
    if (shape.window(layer) == 0) return before.slots(layer, head);
    const std::int32_t first = shape.first_seen(layer, slots.end + static_cast<std::int32_t>(more));
    return static_cast<std::int64_t>(
        std::ranges::count_if(before.original(layer, head), [&](std::int32_t token) { return token >= first; }));
  };
  const auto forget = [&](std::int64_t all, std::int64_t stay) {
    if (stay == all) return;
    cache.peak_blocks = std::max(cache.peak_blocks, held + KvCache::blocks_for(stay));
    held += KvCache::blocks_for(stay) - KvCache::blocks_for(all);
  };
  const auto compact = [&](LayerId layer) {
    for (KvHead head{0}; head < shape.kv_heads; ++head) {
      const std::int64_t earlier = earlier_slots(layer, head);
      const std::int64_t all = earlier + slots.appended[layer];
      const std::int64_t beside = slots.whole_cache ? 0 : earlier;  // no candidates
      const std::int64_t stay = beside + slots.kept[layer][static_cast<std::size_t>(head)];
      cache.slots += stay;
      if (stay == all) continue;
      const std::int64_t untouched = beside / KvCache::kBlockSlots;
      const std::int64_t fresh = KvCache::blocks_for(stay) - untouched;
      cache.peak_blocks = std::max(cache.peak_blocks, held + fresh);
      held += fresh - (KvCache::blocks_for(all) - untouched);
    }
  };
  for (LayerId layer{0}; layer < shape.layers; ++layer) {
    for (KvHead head{0}; head < shape.kv_heads; ++head) forget(before.slots(layer, head), earlier_slots(layer, head));
    for (KvHead head{0}; head < shape.kv_heads; ++head) {
      const std::int64_t earlier = earlier_slots(layer, head);
      held += KvCache::blocks_for(earlier + slots.appended[layer]) - KvCache::blocks_for(earlier);
    }
    cache.peak_blocks = std::max(cache.peak_blocks, held);
    if (on_the_way) compact(layer);
  }
  for (LayerId layer{0}; layer < shape.layers && !on_the_way; ++layer) compact(layer);
  if (slots.after_event == 0) return cache;
  for (LayerId layer{0}; layer < shape.layers; ++layer) {
    for (KvHead head{0}; head < shape.kv_heads; ++head) {
      const auto of_head = static_cast<std::size_t>(head);
      const std::int64_t all = earlier_slots(layer, head) + slots.kept[layer][of_head];
      const std::int64_t added = shape.held(layer, slots.after_event);
      const std::int64_t stay = earlier_slots(layer, head, slots.after_event) + slots.seen[layer][of_head];
      forget(all, stay);
      held += KvCache::blocks_for(stay + added) - KvCache::blocks_for(stay);
      cache.slots += stay + added - all;
    }
  }
  cache.peak_blocks = std::max(cache.peak_blocks, held);
  return cache;
}

}  // namespace winnow
