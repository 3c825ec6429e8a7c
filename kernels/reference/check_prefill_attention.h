// The argument rules of prefill attention, the same for every implementation.
#pragma once

#include "kernels/api/prefill_attention.h"

namespace winnow::kernels {

inline LaunchStatus check_arguments(const PrefillAttentionArgs& args) {
  if (args.query == nullptr || args.key == nullptr || args.value == nullptr || args.output == nullptr || args.log_sum_exp == nullptr ||
      args.workspace == nullptr || args.group < 1 || args.rows < 1 || args.keys < 1 || args.head_dim < 1 || !is_known(args.type)) {
    return LaunchStatus::kBadArgument;
  }
  const bool sums = args.column_sums != nullptr;
  if (sums != (args.kept != nullptr) || (!sums && args.column_squares != nullptr)) return LaunchStatus::kBadArgument;
  if (args.head_dim > kMaxHeadDim) return LaunchStatus::kUnsupported;
  return LaunchStatus::kOk;
}

}  // namespace winnow::kernels
