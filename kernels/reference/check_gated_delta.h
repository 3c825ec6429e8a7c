// The argument rules of the gated delta rule, the same for every implementation.
#pragma once

#include "kernels/api/gated_delta.h"

namespace winnow::kernels {

inline LaunchStatus check_arguments(const GatedDeltaArgs& args) {
  if (args.query == nullptr || args.key == nullptr || args.value == nullptr || args.decay == nullptr || args.beta == nullptr ||
      args.state == nullptr || args.output == nullptr || args.tokens < 0 || args.key_heads < 1 || args.value_heads < 1 ||
      args.key_head < 0 || args.key_head >= args.key_heads || args.key_dim < 1 || args.value_dim < 1 || args.head < 0 ||
      args.head >= args.value_heads || args.first_column < 0 || args.columns < 0 || args.columns > args.value_dim - args.first_column) {
    return LaunchStatus::kBadArgument;
  }
  return args.key_dim > kMaxDeltaKey ? LaunchStatus::kUnsupported : LaunchStatus::kOk;
}

}  // namespace winnow::kernels
