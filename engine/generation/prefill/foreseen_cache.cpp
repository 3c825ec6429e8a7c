#include "engine/generation/prefill/foreseen_cache.h"

#include <algorithm>

#include "engine/generation/prefill/block_count.h"

namespace winnow {
namespace {

// Drops the blocks of slots that have passed out of a window.
void forget(BlockCount& blocks, std::int64_t all, std::int64_t stay) {
  if (stay != all) blocks.replace(KvCache::blocks_for(all), KvCache::blocks_for(stay));
}

// Counts the slots held before that the window still reaches after the segment and so many tokens more.
std::int64_t earlier_slots(const KvCache& before, const LayerSlots& slots, LayerId layer, KvHead head, std::int64_t more = 0) {
  const KvShape& shape = before.shape();
  if (shape.window(layer) == 0) return before.slots(layer, head);
  const std::int32_t first = shape.first_seen(layer, slots.end + static_cast<std::int32_t>(more));
  return static_cast<std::int64_t>(std::ranges::count_if(before.original(layer, head), [&](std::int32_t token) { return token >= first; }));
}

// The layer reads the segment.
void fill(BlockCount& blocks, const KvCache& before, const LayerSlots& slots, LayerId layer) {
  for (KvHead head{0}; head < before.shape().kv_heads; ++head)
    forget(blocks, before.slots(layer, head), earlier_slots(before, slots, layer, head));
  blocks.layer_done();
  for (KvHead head{0}; head < before.shape().kv_heads; ++head) {
    const std::int64_t earlier = earlier_slots(before, slots, layer, head);
    blocks.add(KvCache::blocks_for(earlier + slots.appended[layer]) - KvCache::blocks_for(earlier));
  }
}

}  // namespace

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
  BlockCount blocks(shape, blocks_held(before));
  ForeseenCache cache;
  const auto compact = [&](LayerId layer) {
    for (KvHead head{0}; head < shape.kv_heads; ++head) {
      const std::int64_t earlier = earlier_slots(before, slots, layer, head);
      const std::int64_t all = earlier + slots.appended[layer];
      const std::int64_t beside = slots.whole_cache ? 0 : earlier;  // no candidates
      const std::int64_t stay = beside + slots.kept[layer][static_cast<std::size_t>(head)];
      cache.slots += stay;
      if (stay == all) continue;
      const std::int64_t untouched = beside / KvCache::kBlockSlots;
      blocks.replace(KvCache::blocks_for(all) - untouched, KvCache::blocks_for(stay) - untouched);
    }
    blocks.layer_done();
  };
  for (LayerId layer{0}; layer < shape.layers; ++layer) {
    fill(blocks, before, slots, layer);
    if (on_the_way) compact(layer);
  }
  for (LayerId layer{0}; layer < shape.layers && !on_the_way; ++layer) compact(layer);
  for (LayerId layer{0}; layer < shape.layers && slots.after_event > 0; ++layer) {
    for (KvHead head{0}; head < shape.kv_heads; ++head) {
      const auto of_head = static_cast<std::size_t>(head);
      const std::int64_t all = earlier_slots(before, slots, layer, head) + slots.kept[layer][of_head];
      const std::int64_t added = shape.held(layer, slots.after_event);
      const std::int64_t stay = earlier_slots(before, slots, layer, head, slots.after_event) + slots.seen[layer][of_head];
      forget(blocks, all, stay);
      blocks.layer_done();
      blocks.add(KvCache::blocks_for(stay + added) - KvCache::blocks_for(stay));
      cache.slots += stay + added - all;
    }
  }
  cache.peak_blocks = blocks.peak();
  return cache;
}

ForeseenCache foresee_twice(const KvCache& before, const LayerSlots& slots) {
  LayerSlots second = slots;
  second.layer_by_layer = slots.by_second_pass;
  ForeseenCache cache = foresee_cache(before, second, /*layer_by_layer=*/true);
  for (LayerId layer{0}; layer < before.shape().layers; ++layer) {
    BlockCount first(before.shape(), blocks_held(before));
    fill(first, before, slots, layer);
    cache.peak_blocks = std::max(cache.peak_blocks, first.peak());
  }
  return cache;
}

}  // namespace winnow
