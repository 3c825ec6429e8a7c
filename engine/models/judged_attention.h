// Patch importance from a vision tower's attention: row weights distributed to the keys that the rows attend to (vision_judge.h).
//
// Used by the vision towers. Rows go in tiles, so that heads x patches x patches is never stored. Inference only. Engine thread.
#pragma once

#include <ATen/ATen.h>

namespace winnow {

// weights: fp32 [n]; query, key: [heads, n, d], any dtype and strides. Returns fp32 [n]: the weights times the heads' mean attention.
at::Tensor through_attention(const at::Tensor& weights, const at::Tensor& query, const at::Tensor& key);

}  // namespace winnow
