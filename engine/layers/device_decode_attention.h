// Decode attention over a layer of a cache in GPU memory, with shared slots or without: one launch, or two if heads are long enough to be
// split.
//
// Called by device steps (engine/models/decoder/device_step.h). Needs the CUDA plug-in to be open. Engine thread. Errors: kDeviceFailed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <ATen/ATen.h>

#include "engine/base/index.h"
#include "engine/kv_cache/kv_cache.h"
#include "engine/layers/layer_view.h"

namespace winnow {

// A decoded token's attention in each layer, kept in GPU memory so that all layers of a step come to the host with one wait.
struct DeviceProbabilities {
  at::Tensor numbers;                // fp32 [kv_heads, longest], mean over a head's query heads
  std::vector<std::int32_t> counts;  // valid columns of each head
};

// Each layer's probabilities, as in DecodeRow. One copy; waits for the device.
std::vector<std::vector<std::vector<float>>> on_host(std::span<const DeviceProbabilities> layers);

// All slots of a layer of a cache on a GPU.
DeviceSlots device_slots(const KvCache& cache, LayerId layer);

// query: [H, d], after rotary; slots: with the token's own. Returns [H, d], dtype of the query. probabilities: if not null, filled per KV
// head with the attention to every slot, in slot order.
at::Tensor device_decode_attention(const at::Tensor& query, const KvShape& shape, const DeviceSlots& slots, double scale,
                                   DeviceProbabilities* probabilities = nullptr);

// Decode attention over a layer with shared slots of a cache in GPU memory: one launch, or two if heads are long enough to be split or
// probabilities are requested.
//
// Called by device steps (engine/models/device_step.h). Runtime tokens (runtime_tokens.h) are computed on the host and copied to the device
// once a layer, and only after a table has changed; appending a token changes nothing. Needs the CUDA plug-in to be open. Engine thread.
// Errors: kIllegalRecipe if keys have to be rotated and the model's keys carry no rotation.

// query, result: as device_decode_attention(). probabilities: if not null, filled per KV head with the attention to every runtime token.
at::Tensor device_shared_attention(const at::Tensor& query, const KvCache& cache, LayerId layer, double scale,
                                   DeviceProbabilities* probabilities = nullptr);

}  // namespace winnow
