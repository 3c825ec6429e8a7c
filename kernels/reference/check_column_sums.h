// The argument rules of column sums, the same for every implementation.
#pragma once

#include "kernels/api/column_sums.h"
#include "kernels/api/cuda_column_sums.h"
#include "kernels/reference/check_cuda_logits.h"

namespace winnow::kernels {

inline LaunchStatus check_arguments(const ColumnSumsArgs& args) {
  if (args.query == nullptr || args.key == nullptr || args.log_sum_exp == nullptr || args.sums == nullptr || args.workspace == nullptr ||
      args.group < 1 || args.head_dim < 1 || args.rows < 0 || args.columns < 0 || !is_known(args.type)) {
    return LaunchStatus::kBadArgument;
  }
  if (args.group > kMaxGroup || args.head_dim > kMaxHeadDim) return LaunchStatus::kUnsupported;
  return LaunchStatus::kOk;
}

inline LaunchStatus check_arguments(const CudaColumnSumsArgs& args) {
  return check_logits(args, args.log_sum_exp != nullptr && args.sums != nullptr && args.workspace != nullptr &&
                                reinterpret_cast<std::uintptr_t>(args.workspace) % alignof(double) == 0 && are_parts(args.parts));
}

}  // namespace winnow::kernels
