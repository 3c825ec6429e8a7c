// Predicts the slots and blocks of a compression event and of the tokens prefilled after it.
//
// Used by plan_turn() and by the media readings (engine/generation/reading). Pure.
#pragma once

#include <cstdint>

#include "engine/generation/prefill/segment_compression.h"
#include "engine/kv_cache/kv_cache.h"

namespace winnow {

struct ForeseenCache {
  std::int64_t slots = 0;  // of all layers and heads, after the event
  std::int64_t peak_blocks = 0;
};

std::int64_t blocks_held(const KvCache& cache);

// Counts blocks as KvCache does: a compacted head's new blocks are there before its old ones go. layer_by_layer: a layer whose budget is
// known is compacted before the next begins. The slots are exact but where windows pass by some of what a method chose before the question
// was read (LayerSlots::seen): then they are the most that there can be.
ForeseenCache foresee_cache(const KvCache& before, const LayerSlots& slots, bool layer_by_layer);

// The same of a prefill in two passes (LayerSlots::by_second_pass): each layer once in full and let go, then layer by layer.
ForeseenCache foresee_twice(const KvCache& before, const LayerSlots& slots);

}  // namespace winnow
