// y = x W^T + b, the only dense operator of every model.
//
// Used by engine/layers and engine/models. Plain values that share their tensors when copied; inference only (callers hold
// c10::InferenceMode). Errors: libtorch's own when shapes disagree; models check shapes when they load. Threads: engine thread.
#pragma once

#include <ATen/ATen.h>

#include "engine/layers/linear_weight.h"

namespace winnow {

struct Linear {
  LinearWeight weight;  // [out, in]
  at::Tensor bias{};    // [out], or undefined

  // input: [..., in]. Returns [..., out].
  at::Tensor operator()(const at::Tensor& input) const { return weight.times(input, bias); }
};

}  // namespace winnow
