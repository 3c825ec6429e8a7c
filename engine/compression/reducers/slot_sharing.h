// Shared slots at an event: decides from the cache before compaction which tokens share, and writes the look-up tables after it.
//
// Used by compression_event.h for recipes whose reducer shares. The arithmetic is in shared_entries.h.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/base/index.h"
#include "engine/compression/reducers/shared_entries.h"
#include "engine/compression/segment_compressor.h"
#include "engine/kv_cache/kv_cache.h"

namespace winnow {

// Per KV head.
struct SharedLayer {
  std::vector<SharedRows> rows;
  std::vector<std::vector<std::int32_t>> centres;  // indices into the plan's kept rows: all before the window but the pinned ones
};

// The kept slots before the window are shared with the next best tokens.
SharedLayer share_layer(const KvCache& cache, const SegmentCompressor& compressor, LayerId layer, const LayerPlan& plan);

// Returns counts as apply_plan() does.
std::vector<std::vector<std::int32_t>> write_shared(KvCache& cache, const SegmentCompressor& compressor, LayerId layer,
                                                    const LayerPlan& plan, const SharedLayer& shared);

}  // namespace winnow
