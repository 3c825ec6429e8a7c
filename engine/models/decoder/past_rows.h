// The earlier slots of a layer that a segment's rows attend to.
//
// Used by transformer_decoder.h in prefill. Shared slots are read in place; everything else is copied out of the cache's blocks, so that a
// method may evict slots while the segment is still read. Threads: engine thread.
#pragma once

#include <cstdint>

#include "engine/base/index.h"
#include "engine/kv_cache/kv_cache.h"
#include "engine/layers/attention.h"

namespace winnow {

// first_original: the segment's first token. viewed: whether a statistic reads the keys of shared slots, too.
PastKeyValues past_rows(const KvCache& cache, LayerId layer, std::int32_t first_original, bool viewed);

}  // namespace winnow
