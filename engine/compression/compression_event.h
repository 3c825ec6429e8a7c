// Applies one layer's plan to the cache: merges what the recipe merges, keeps what the plan keeps, frees the rest.
//
// Used by engine/generation. The plan comes from SegmentCompressor, weights from the recipe's reducer; KvCache moves the memory.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/base/index.h"
#include "engine/compression/decode_policy.h"
#include "engine/compression/segment_compressor.h"
#include "engine/kv_cache/kv_cache.h"

namespace winnow {

// The layer's segment must be exactly the last slots of the cache. Returns per KV head and kept slot of the segment how many slots were
// merged into it; empty if the recipe does not merge. `state` remembers the counts for later reports.
std::vector<std::vector<std::int32_t>> apply_plan(KvCache& cache, const SegmentCompressor& compressor, LayerId layer, MergeState& state);

}  // namespace winnow
