// For slots that are about to leave their heads the most similar other slot.
//
// Used by attention_eviction.h and shared_entry_merging.h. Engine thread. Errors: kDeviceFailed.
#pragma once

#include <ATen/ATen.h>

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
  // Of the head's slots: ties go to the least; what is negative takes no part. Borrowed.
  std::span<const std::int32_t> age{};
};

enum class SlotLikeness : int {
  kKeys = 1,           // cosine of keys
  kKeysAndValues = 2,  // times the cosine of values
};

// Of each: cosines as merge.h has them; into is negative where a head has no other slot that takes part. One product with every row of the
// head; on a GPU one launch and one wait for all of them (kernels/api/cuda_nearest_slots.h). beside: if not null, fp32 [n] in the memory of
// the GPU that comes to the host by the same copy, and is there afterwards.
std::vector<MergePair> most_similar(const KvCache& cache, std::span<const LeavingSlotOf> leaving, SlotLikeness likeness,
                                    at::Tensor* beside = nullptr);

// What others are compared with: a key at length 1, and a value where values count.
struct UnitSlot {
  at::Tensor key;    // fp32 [d]
  at::Tensor value;  // likewise, or undefined
};

// key, value: [d], of any float type.
UnitSlot unit_slot(const at::Tensor& key, const at::Tensor& value, SlotLikeness likeness);

// Of every row of keys and values [rows, d], fp32; values are not looked at where they do not count.
at::Tensor likeness_of(const at::Tensor& keys, const at::Tensor& values, const UnitSlot& one);

}  // namespace winnow
