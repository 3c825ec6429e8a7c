// Finds the nearest other slot by cosine for slots about to be evicted.
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
  // Per slot of the head: the smallest wins a tie; negative slots are excluded. Borrowed.
  std::span<const std::int32_t> age{};
};

enum class SlotLikeness : int {
  kKeys = 1,           // cosine of keys
  kKeysAndValues = 2,  // times the cosine of values
};

// Cosines as in merge.h; `into` is negative if a head has no other eligible slot. One dot product with every row of the head; on a GPU one
// launch and one wait for all (kernels/api/cuda_nearest_slots.h). beside: if not null, fp32 [n] in GPU memory that the same copy brings to
// the host.
std::vector<MergePair> most_similar(const KvCache& cache, std::span<const LeavingSlotOf> leaving, SlotLikeness likeness,
                                    at::Tensor* beside = nullptr);

// The row that others are compared with: a key at length 1, and a value if values count.
struct UnitSlot {
  at::Tensor key;    // fp32 [d]
  at::Tensor value;  // likewise, or undefined
};

// key, value: [d], of any float type.
UnitSlot unit_slot(const at::Tensor& key, const at::Tensor& value, SlotLikeness likeness);

// Similarity of every row of keys and values [rows, d], fp32; values are ignored if they do not count.
at::Tensor likeness_of(const at::Tensor& keys, const at::Tensor& values, const UnitSlot& one);

}  // namespace winnow
