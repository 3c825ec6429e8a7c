// Rotary embedding (RoPE): rotates the two halves of every head by the angles of its row.
//
// Used by engine/layers (rotary.h). The reference is kernels/reference/between_products.cpp, the vectorised CPU version kernels/cpu, the
// GPU's kernels/cuda. A pair (a, b) is element i of the first and of the second half: a becomes a cos - b sin, b becomes b cos + a sin. The
// products with the cosine are rounded to the type before the others are added, as in transformers. Never throws, never allocates; calls on
// different rows or heads are independent.
// kBadArgument: a missing pointer, a negative size or stride or an unknown type. kUnsupported: more than the limits. kDeviceError: the
// launch failed.
#pragma once

#include <cstdint>

#include "kernels/api/element_type.h"
#include "kernels/api/group_strides.h"

namespace winnow::kernels {

inline constexpr std::int64_t kMaxRotaryRows = std::int64_t{1} << 30;
inline constexpr std::int64_t kMaxRotaryPairs = std::int64_t{1} << 22;  // of a row

struct RotaryArgs {
  ElementType type = ElementType::kFp32;  // of all tensors
  std::int64_t rows = 0;
  std::int64_t heads = 0;
  std::int64_t half = 0;        // of a head
  const void* input = nullptr;  // groups are heads of 2 * half elements
  GroupStrides input_strides;
  const void* cosine = nullptr;  // [rows, half], contiguous
  const void* sine = nullptr;    // as cosine
  void* output = nullptr;        // as input; must not overlap it
  GroupStrides output_strides;
};

LaunchStatus rotary_reference(const RotaryArgs& args);
// Picks the widest instruction set at run time; equals the reference up to fp32 rounding.
LaunchStatus rotary_cpu(const RotaryArgs& args);
// Pointers to device memory. stream: a cudaStream_t; does not wait for the device.
LaunchStatus cuda_rotary(const RotaryArgs& args, void* stream);

}  // namespace winnow::kernels
