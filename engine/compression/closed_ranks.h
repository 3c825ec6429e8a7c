// Rotary positions inside the cache (rope_mode in_cache): slots are met at consecutive positions, whatever was dropped between them.
//
// Attention sees differences of positions only, so nothing but older keys has to move: a key is rotated forward by one position for every
// newer token that is dropped, and the newest token and the query keep their places. Used by compression_event.h after an event and by
// RecencyEviction while decoding. One axis only (Recipe::misfit). Engine thread only.
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

// Keys of slots that stay while others leave one by one, rotated anew from where they were first: roundings do not add up.
class MovingKeys {
 public:
  MovingKeys() = default;
  // slots: that never leave and keep their number.
  MovingKeys(const KvCache& cache, LayerId layer, KvHead kv_head, std::vector<std::int64_t> slots);

  // `tokens` slots with these original indices have left: older keys move.
  void after_leaving(KvCache& cache, LayerId layer, KvHead kv_head, std::span<const std::int32_t> tokens);

 private:
  std::vector<std::int64_t> slots_;
  std::vector<std::int32_t> original_;
  std::vector<std::int64_t> moved_;  // positions so far
  SlotRows first_;                   // keys alone, fp32, as unbiased_slots() tells them; never written
};

}  // namespace winnow
