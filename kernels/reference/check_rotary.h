// The argument rules of rotary embedding, the same for every implementation; reads no device memory.
#pragma once

#include "kernels/api/rotary.h"

namespace winnow::kernels {

inline LaunchStatus check_arguments(const RotaryArgs& args) {
  if (args.input == nullptr || args.cosine == nullptr || args.sine == nullptr || args.output == nullptr || args.rows < 0 ||
      args.heads < 0 || args.half < 0 || args.input_strides.is_negative() || args.output_strides.is_negative() || !is_known(args.type)) {
    return LaunchStatus::kBadArgument;
  }
  if (args.rows > kMaxRotaryRows || args.heads > kMaxRotaryPairs || args.half > kMaxRotaryPairs ||
      args.heads * args.half > kMaxRotaryPairs) {
    return LaunchStatus::kUnsupported;
  }
  return LaunchStatus::kOk;
}

}  // namespace winnow::kernels
