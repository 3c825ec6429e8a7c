// Selects a recipe's decode policy: the only code that knows all of decode/.
//
// Used by generation after each turn's event. Engine thread only.
#pragma once

#include <memory>

#include "engine/compression/decode_policy.h"
#include "engine/compression/segment_compressor.h"
#include "engine/kv_cache/kv_cache.h"
#include "engine/recipes/recipe.h"

namespace winnow {

// The policy for the answer after a segment, once its plans have been applied to `cache`. Null for methods that only append, for scope
// visual (generated text does not compete) and for a share of 1. With an absolute budget the cap is what the event over the whole cache
// granted to the layer, or the budget if there was no event. With a share the cap is what the cache holds now: the earlier cap plus the new
// segment's grant. There is no cap while no segment has been compressed (short texts), nor for layers that the recipe keeps whole. With
// shared slots, slots before the window are rewritten for it. Tokens pinned by the segment's info are never evicted; a cap has at least
// room for them.
std::unique_ptr<DecodePolicy> next_decode_policy(const DecodePolicy* previous, const Recipe& recipe, const SegmentCompressor& compressor,
                                                 KvCache& cache);

}  // namespace winnow
