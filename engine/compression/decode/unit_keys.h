// Normalises the keys of slots to length 1 in place, as shared slots hold them (kv_cache/shared_entries.h).
//
// Used by shared_entry_merging.h. Engine thread. Errors: kIllegalRecipe if keys have to be rotated back and carry no rotation,
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

// rotated_back: first rotates each key back by its token's index. Returns the keys' lengths before normalisation, fp32 [n]. On a GPU one
// launch; the lengths stay there, and nothing waits (kernels/api/cuda_unit_keys.h).
at::Tensor make_unit_keys(KvCache& cache, std::span<const OwnSlotOf> slots, bool rotated_back);

}  // namespace winnow
