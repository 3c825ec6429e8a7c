// The bytes that several caches take together, whose blocks and states forks share.
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "engine/kv_cache/kv_cache.h"

namespace winnow {

std::int64_t bytes_allocated_together(std::span<const KvCache* const> caches) {
  std::set<const void*> blocks;
  std::int64_t bytes = 0;
  std::vector<const KvCache*> all(caches.begin(), caches.end());
  for (const KvCache* const cache : caches) {
    if (const KvCache* const sliding = cache->sliding()) all.push_back(sliding);
  }
  for (const KvCache* cache : all) {
    const KvShape& shape = cache->shape();
    for (LayerId layer{0}; layer < shape.layers; ++layer) {
      for (KvHead head{0}; head < shape.kv_heads; ++head) {
        const std::span<const void* const> keys = cache->key_blocks(layer, head);
        for (std::size_t block = 0; block < keys.size(); ++block) {
          if (!blocks.insert(keys[block]).second) continue;
          bytes += KvCache::kBlockSlots * shape.slot_bytes();
          if (StoredSlots::is_wide(*cache, layer, head, static_cast<std::int64_t>(block))) bytes += shape.more_of_wide_block();
        }
      }
      const LayerStates& states = cache->states();
      for (std::int64_t which = 0; which < states.of_layer(layer); ++which) {
        const LayerState* const state = states.state(layer, which);
        if (state != nullptr && blocks.insert(state).second)
          bytes += static_cast<std::int64_t>(state->recent.nbytes() + state->memory.nbytes());
      }
    }
  }
  return bytes;
}

}  // namespace winnow
