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
  const auto compact = [&](LayerId layer) {
    for (KvHead head{0}; head < shape.kv_heads; ++head) {
      const std::int64_t all = before.slots(layer, head) + slots.appended[layer];
      const std::int64_t beside = slots.whole_cache ? 0 : before.slots(layer, head);  // no candidates
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
    for (KvHead head{0}; head < shape.kv_heads; ++head) {
      const std::int64_t earlier = before.slots(layer, head);
      held += KvCache::blocks_for(earlier + slots.appended[layer]) - KvCache::blocks_for(earlier);
    }
    cache.peak_blocks = std::max(cache.peak_blocks, held);
    if (on_the_way) compact(layer);
  }
  for (LayerId layer{0}; layer < shape.layers && !on_the_way; ++layer) compact(layer);
  if (slots.after_event == 0) return cache;
  for (LayerId layer{0}; layer < shape.layers; ++layer) {
    for (KvHead head{0}; head < shape.kv_heads; ++head) {
      const std::int64_t beside = slots.whole_cache ? 0 : before.slots(layer, head);
      const std::int64_t stay = beside + slots.kept[layer][static_cast<std::size_t>(head)];
      held += KvCache::blocks_for(stay + slots.after_event) - KvCache::blocks_for(stay);
      cache.slots += slots.after_event;
    }
  }
  cache.peak_blocks = std::max(cache.peak_blocks, held);
  return cache;
}

}  // namespace winnow
