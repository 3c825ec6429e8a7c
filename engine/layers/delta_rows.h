// The rows that the gated delta rule reads of consecutive tokens. Made by gated_delta.h. All fp32 and contiguous.
#pragma once

#include <ATen/ATen.h>

namespace winnow {

struct DeltaRows {
  at::Tensor query;  // [t, key_heads, key_dim], of length 1 / sqrt(key_dim)
  at::Tensor key;    // [t, key_heads, key_dim], of length 1
  at::Tensor value;  // [t, value_heads, value_dim]
  at::Tensor decay;  // [t, value_heads], the logarithm of what is kept: not positive
  at::Tensor beta;   // [t, value_heads], in [0, 1]
};

}  // namespace winnow
