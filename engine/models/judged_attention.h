// What a tower's attention says of its patches: weights of rows carried to the keys that they look at (vision_judge.h).
//
// Used by the vision towers. Nothing of size heads x patches x patches is kept: rows go in tiles. Inference only. Engine thread.
#pragma once

#include <ATen/ATen.h>

namespace winnow {

// weights: fp32 [n]; query, key: [heads, n, d], any dtype and strides. Returns fp32 [n]: the weights times the heads' mean attention.
at::Tensor through_attention(const at::Tensor& weights, const at::Tensor& query, const at::Tensor& key);

}  // namespace winnow
