// Activation functions as model configurations name them, and their application to tensors.
//
// The kinds are read by engine/models' configurations (which see no torch, hence the forward declaration) and applied by engine/layers/mlp.
// Threads: engine thread.
#pragma once

#include "kernels/api/gated_activation.h"

namespace at {
class Tensor;
}

namespace winnow {

using kernels::Activation;

// Overwrites `values` (any shape and strides) and returns them.
at::Tensor& activate(Activation activation, at::Tensor& values);

// gate_up: [rows, 2 * columns] with contiguous rows, the gates first. Returns a new [rows, columns]: activation(gate), rounded to the
// dtype, times up. Errors: kDeviceFailed.
at::Tensor activate_gated(Activation activation, const at::Tensor& gate_up);

}  // namespace winnow
