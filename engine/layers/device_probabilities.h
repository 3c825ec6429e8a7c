// A decoded token's attention in each layer, kept in GPU memory so that all layers of a step come to the host with one wait.
//
// Filled by device_decode_attention.h and device_shared_attention.h. Engine thread.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <span>
#include <vector>

#include "engine/layers/layer_view.h"

namespace winnow {

struct DeviceProbabilities {
  at::Tensor numbers;                // fp32 [kv_heads, longest], mean over a head's query heads
  std::vector<std::int32_t> counts;  // valid columns of each head
};

// Each layer's probabilities, as in DecodeRow. One copy; waits for the device.
std::vector<std::vector<std::vector<float>>> on_host(std::span<const DeviceProbabilities> layers);

}  // namespace winnow
