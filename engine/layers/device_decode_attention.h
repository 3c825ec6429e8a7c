// decode_attention() for a cache in GPU memory: one launch, or two if heads are long enough to be split.
//
// Called by decode_attention.h, which has checked the shapes, and by captured steps (engine/models/captured_step.h). Needs the CUDA plug-in
// to be open. Engine thread.
#pragma once

#include <ATen/ATen.h>

#include "engine/base/index.h"
#include "engine/kv_cache/kv_cache.h"
#include "engine/layers/device_probabilities.h"

namespace winnow {

// probabilities: if not null, filled per KV head with the attention to every slot, in slot order.
at::Tensor device_decode_attention(const at::Tensor& query, const KvCache& cache, LayerId layer, double scale,
                                   DeviceProbabilities* probabilities = nullptr);

// The same without the cache, for captured steps: over a layer of a cache of this shape.
at::Tensor device_decode_attention(const at::Tensor& query, const KvShape& shape, const DeviceSlots& slots, double scale,
                                   DeviceProbabilities* probabilities = nullptr);

}  // namespace winnow
