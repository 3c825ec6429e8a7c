// The argument rules of RMS norms, the same for every implementation; reads no device memory.
#pragma once

#include "kernels/api/rms_norm.h"

namespace winnow::kernels {

inline LaunchStatus check_arguments(const RmsNormArgs& args) {
  if (args.input == nullptr || args.weight == nullptr || args.output == nullptr || args.rows < 0 || args.groups < 0 || args.features < 1 ||
      args.input_strides.is_negative() || args.output_strides.is_negative() || args.added_stride < 0 || !is_known(args.type) ||
      (args.weight_type != args.type && args.weight_type != ElementType::kFp32)) {
    return LaunchStatus::kBadArgument;
  }
  if (args.added != nullptr && (args.sum == nullptr || args.groups != 1)) return LaunchStatus::kBadArgument;
  if (args.features > kMaxNormFeatures || args.rows > kMaxNormRows || args.groups > kMaxNormRows ||
      args.rows * args.groups > kMaxNormRows) {
    return LaunchStatus::kUnsupported;
  }
  return LaunchStatus::kOk;
}

}  // namespace winnow::kernels
