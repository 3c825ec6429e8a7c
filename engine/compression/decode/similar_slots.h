// For slots that are about to leave their heads the other slot with the most similar key.
//
// Used by attention_eviction.h. Engine thread. Errors: kDeviceFailed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/index.h"
#include "engine/kv_cache/kv_cache.h"
#include "engine/recipes/reducers/reducer.h"

namespace winnow {

struct LeavingSlotOf {
  LayerId layer;
  KvHead head;
  std::int64_t slot = 0;
};

// Of each: cosines as merge.h has them, ties to the older token; into is negative where a head has no other slot. One product with every
// key of the head; on a GPU one launch and one wait for all of them (kernels/api/cuda_similar_slots.h).
std::vector<MergePair> most_similar(const KvCache& cache, std::span<const LeavingSlotOf> leaving);

}  // namespace winnow
