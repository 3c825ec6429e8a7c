// RMS normalisation of rows, or of the heads of rows, optionally with a residual addition before it.
//
// Used by engine/layers (norm.h). The reference is kernels/reference/between_products.cpp, the vectorised CPU version kernels/cpu, the
// GPU's kernels/cuda. Squares are summed in fp32. x / sqrt(mean(x^2) + epsilon) is computed in fp32, rounded to the weight's type,
// multiplied by the weight and rounded to the rows' type. A weight of the rows' type thus multiplies the rounded value, an fp32 weight the
// unrounded one. Never throws, never allocates; calls on different rows or groups are independent. A NaN or infinite element makes its row
// NaN. kBadArgument: a missing pointer, a negative size or stride, no features, an unknown type, a weight type that is neither the rows'
// nor fp32, an addition to several groups. kUnsupported: more than the limits. kDeviceError: the launch failed.
#pragma once

#include <cstdint>

#include "kernels/api/element_type.h"
#include "kernels/api/group_strides.h"

namespace winnow::kernels {

inline constexpr std::int64_t kMaxNormFeatures = std::int64_t{1} << 22;
inline constexpr std::int64_t kMaxNormRows = std::int64_t{1} << 30;  // rows times groups

struct RmsNormArgs {
  ElementType type = ElementType::kFp32;  // of input, added, sum and output
  std::int64_t rows = 0;
  std::int64_t groups = 1;  // of a row, each normalised separately
  std::int64_t features = 0;
  const void* input = nullptr;
  GroupStrides input_strides;
  ElementType weight_type = ElementType::kFp32;
  const void* weight = nullptr;  // [features]
  float epsilon = 0.0F;
  void* output = nullptr;  // may be the input, with its strides
  GroupStrides output_strides;
  // Added to the input first, or null: [rows, features], row r from element r * added_stride on. The sum is rounded to the type, then
  // normalised.
  const void* added = nullptr;
  std::int64_t added_stride = 0;
  void* sum = nullptr;  // receives the sum, with the input's strides; may be the input
};

LaunchStatus rms_norm_reference(const RmsNormArgs& args);
// Picks the widest instruction set at run time; equals the reference up to fp32 rounding.
LaunchStatus rms_norm_cpu(const RmsNormArgs& args);
// Pointers to device memory. stream: a cudaStream_t; does not wait for the device. The same inputs give the same bits.
LaunchStatus cuda_rms_norm(const RmsNormArgs& args, void* stream);

}  // namespace winnow::kernels
