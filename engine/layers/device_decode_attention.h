// Decode attention over a layer of a cache in GPU memory: one launch, or two if heads are long enough to be split.
//
// Called by device steps (engine/models/device_step.h). Needs the CUDA plug-in to be open. Engine thread. Errors: kDeviceFailed.
#pragma once

#include <ATen/ATen.h>

#include "engine/base/index.h"
#include "engine/kv_cache/kv_cache.h"
#include "engine/layers/device_probabilities.h"

namespace winnow {

// All slots of a layer of a cache on a GPU.
DeviceSlots device_slots(const KvCache& cache, LayerId layer);

// query: [H, d], after rotary; slots: with the token's own. Returns [H, d], dtype of the query. probabilities: if not null, filled per KV
// head with the attention to every slot, in slot order.
at::Tensor device_decode_attention(const at::Tensor& query, const KvShape& shape, const DeviceSlots& slots, double scale,
                                   DeviceProbabilities* probabilities = nullptr);

}  // namespace winnow
