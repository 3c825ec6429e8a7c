// Activation functions in device code. Used by gated_activation.cuh and gemv.cuh.
#pragma once

#include <cmath>

#include "kernels/api/gated_activation.h"
#include "kernels/cuda/element.cuh"

namespace winnow::kernels::cuda {

__device__ inline float activated(Activation activation, float x) {
  switch (activation) {
    case Activation::kSilu: return x / (1.0F + expf(-x));
    case Activation::kGelu: return 0.5F * x * erfcf(-0.70710678F * x);
    case Activation::kGeluTanh: return x / (1.0F + expf(-1.5957691F * (x + 0.044715F * x * x * x)));  // (1 + tanh u) / 2 = 1 / (1 + e^-2u)
    case Activation::kQuickGelu: return x / (1.0F + expf(-1.702F * x));
    case Activation::kRelu: return x < 0.0F ? 0.0F : x;
  }
  return x;
}

// activation(gate), rounded to T, times up.
template <class T>
__device__ inline T gated(Activation activation, T gate, T up) {
  T weight;
  narrow(activated(activation, upcast(gate)), weight);
  T product;
  narrow(upcast(weight) * upcast(up), product);
  return product;
}

}  // namespace winnow::kernels::cuda
