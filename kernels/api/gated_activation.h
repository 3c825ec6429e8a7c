// The activation of a gated feed-forward block: activation(gate) * up, in one pass.
//
// Used by engine/layers (activation.h). The reference is kernels/reference/between_products.cpp, the vectorised CPU version kernels/cpu,
// the GPU's kernels/cuda. The activation is computed in fp32 and rounded to the type before it is multiplied, as in transformers. Every
// activation is x times a factor in [0, 1], exact to 2^-21. Never throws, never allocates; calls on different rows or columns are
// independent. NaN and infinity propagate.
// kBadArgument: a missing pointer, a negative size, a stride below `columns` or an unknown type or activation. kUnsupported: more columns
// or rows than the limits. kDeviceError: the launch failed.
#pragma once

#include <cstdint>

#include "kernels/api/element_type.h"

namespace winnow::kernels {

// The names are those of model configurations. kGelu is x times the normal distribution's Phi(x), kGeluTanh its approximation by a tanh,
// kQuickGelu x times the logistic function of 1.702 x.
enum class Activation : int { kSilu = 1, kGelu = 2, kGeluTanh = 3, kQuickGelu = 4, kRelu = 5 };

inline constexpr std::int64_t kMaxGatedColumns = std::int64_t{1} << 22;
inline constexpr std::int64_t kMaxGatedRows = std::int64_t{1} << 30;

struct GatedActivationArgs {
  Activation activation = Activation::kSilu;
  ElementType type = ElementType::kFp32;  // of all three
  const void* gate = nullptr;             // [rows, columns], row r from element r * stride on
  const void* up = nullptr;               // as gate
  std::int64_t stride = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  void* output = nullptr;  // [rows, columns], one row after the other
};

LaunchStatus gated_activation_reference(const GatedActivationArgs& args);
// Picks the widest instruction set at run time.
LaunchStatus gated_activation_cpu(const GatedActivationArgs& args);
// Pointers to device memory. stream: a cudaStream_t; does not wait for the device.
LaunchStatus cuda_gated_activation(const GatedActivationArgs& args, void* stream);

}  // namespace winnow::kernels
