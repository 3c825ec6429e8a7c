// The activation functions that model configurations name, and their application to tensors.
//
// The kinds are read by engine/models' configurations (which see no torch, hence the forward declaration), applied by engine/layers/mlp.
// Threads: engine thread.
#pragma once

namespace at {
class Tensor;
}

namespace winnow {

enum class Activation : int { kSilu = 1, kGelu = 2, kGeluTanh = 3, kQuickGelu = 4, kRelu = 5 };

// Overwrites `values` (any shape and strides) and returns them.
at::Tensor& activate(Activation activation, at::Tensor& values);

}  // namespace winnow
