// The argument rules of gated activations, the same for every implementation; reads no device memory.
#pragma once

#include "kernels/api/gated_activation.h"

namespace winnow::kernels {

inline bool is_known(Activation activation) {
  switch (activation) {
    case Activation::kSilu:
    case Activation::kGelu:
    case Activation::kGeluTanh:
    case Activation::kQuickGelu:
    case Activation::kRelu:
      return true;
  }
  return false;
}

inline LaunchStatus check_arguments(const GatedActivationArgs& args) {
  if (args.gate == nullptr || args.up == nullptr || args.output == nullptr || args.rows < 0 || args.columns < 0 ||
      args.stride < args.columns || !is_known(args.type) || !is_known(args.activation)) {
    return LaunchStatus::kBadArgument;
  }
  if (args.columns > kMaxGatedColumns || args.rows > kMaxGatedRows) return LaunchStatus::kUnsupported;
  return LaunchStatus::kOk;
}

}  // namespace winnow::kernels
