// Keys of slots brought to length 1 where they lie: what a slot holds from when tokens share it (kv_cache/shared_entries.h).
//
// Used by shared_entry_merging.h. Engine thread. Errors: kIllegalRecipe where keys are to be rotated back and carry no rotation,
// kDeviceFailed.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <span>

#include "engine/base/index.h"
#include "engine/kv_cache/kv_cache.h"

namespace winnow {

struct OwnSlotOf {
  LayerId layer;
  KvHead head;
  std::int64_t slot = 0;
  std::int32_t original = 0;  // its only token
};

// rotated_back: each is rotated back by its token's index before. What lengths they had then, fp32 [n]; on a GPU one launch, the lengths
// stay there and nobody waits (kernels/api/cuda_unit_keys.h).
at::Tensor make_unit_keys(KvCache& cache, std::span<const OwnSlotOf> slots, bool rotated_back);

}  // namespace winnow
