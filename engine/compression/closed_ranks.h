// Rotary positions inside the cache (rope_mode in_cache): attention sees kept slots at consecutive positions, whatever was evicted between
// them.
//
// Attention depends only on position differences, so only older keys move: a key is rotated forward by one position for every newer token
// that is evicted. The newest token and the query keep their positions. Used by compression_event.h after an event and by RecencyEviction
// while decoding. One axis only (Recipe::misfit). Engine thread only.
// Xiao et al., "Efficient Streaming Language Models with Attention Sinks", ICLR 2024, section 3.2 ("positions within the cache").
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/index.h"
#include "engine/kv_cache/kv_cache.h"

namespace winnow {

// Rotates the key of every slot of a head forward by `rotations`: int64 [axes, slots], in slot order, on the host; negative: backward.
void move_keys(KvCache& cache, LayerId layer, KvHead kv_head, const at::Tensor& rotations);

// Keys of slots that stay while others are evicted one by one. Each is rotated from its first position, so rounding errors do not add up.
class MovingKeys {
 public:
  MovingKeys() = default;
  // slots: never evicted; they keep their slot numbers.
  MovingKeys(const KvCache& cache, LayerId layer, KvHead kv_head, std::vector<std::int64_t> slots);

  // Call after `tokens` slots with these original indices were evicted: older keys move.
  void after_leaving(KvCache& cache, LayerId layer, KvHead kv_head, std::span<const std::int32_t> tokens);

 private:
  std::vector<std::int64_t> slots_;
  std::vector<std::int32_t> original_;
  std::vector<std::int64_t> moved_;  // positions so far
  SlotRows first_;                   // keys only, fp32, from StoredSlots::read(); never written
};

}  // namespace winnow
