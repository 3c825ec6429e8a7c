// y = x W^T + b, the only dense operator of every model.
//
// Used by engine/layers and engine/models. Plain values that share their tensors when copied; inference only (callers hold
// c10::InferenceMode). Errors: libtorch's own when shapes disagree; models check shapes when they load. Threads: engine thread.
#pragma once

#include <ATen/ATen.h>

#include <span>

namespace winnow {

struct Linear {
  at::Tensor weight;  // [out, in]
  at::Tensor bias;    // [out], or undefined

  // input: [..., in]. Returns [..., out].
  at::Tensor operator()(const at::Tensor& input) const;
};

// One matrix product instead of several: the outputs of `parts` side by side, in order. All parts have a bias or none has.
Linear fuse(std::span<const Linear> parts);

}  // namespace winnow
