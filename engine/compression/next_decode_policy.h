// Which decode policy a recipe calls for: the one place that knows all of decode/.
//
// Used by generation after each turn's event. Engine thread only.
#pragma once

#include <memory>

#include "engine/compression/decode_policy.h"
#include "engine/compression/segment_compressor.h"
#include "engine/kv_cache/kv_cache.h"
#include "engine/recipes/recipe.h"

namespace winnow {

// The policy for the answer that follows a segment, once its plans have been applied to `cache`. Null for methods that only append, for
// scope visual (generated text is no candidate) and for a share of 1. With an absolute budget the cap is what the event over
// the whole cache granted to the layer, or that budget if there was none. With a share, the cap is what the cache holds now: the earlier
// cap plus what was granted to the new segment; as long as no segment has been compressed (short texts) there is no cap. Layers that the
// recipe keeps whole have none either. Where slots are shared, those before the window are rewritten for it. What the segment's info says
// is pinned never leaves; a cap is at least the room for that.
std::unique_ptr<DecodePolicy> next_decode_policy(const DecodePolicy* previous, const Recipe& recipe, const SegmentCompressor& compressor,
                                                 KvCache& cache);

}  // namespace winnow
