// The argument rules of statistics over logits, the same for every implementation; first what all of those on a GPU share.
#pragma once

#include "kernels/api/column_sums.h"
#include "kernels/api/cuda_column_sums.h"
#include "kernels/api/cuda_cross_modal_entropy.h"
#include "kernels/api/cuda_logits.h"
#include "kernels/api/cuda_row_sparsity.h"

namespace winnow::kernels {

// is_good: what the operator demands of the rest of its arguments.
inline LaunchStatus check_logits(const CudaLogits& logits, bool is_good) {
  if (!is_good || logits.query == nullptr || logits.key == nullptr || logits.kv_heads < 1 || logits.group < 1 || logits.head_dim < 1 ||
      logits.rows < 0 || logits.columns < 0 || !is_known(logits.type)) {
    return LaunchStatus::kBadArgument;
  }
  if (logits.group > kMaxGroup || logits.head_dim > kMaxHeadDim || logits.kv_heads > kMaxCudaGridSide / (logits.group + 1) ||
      logits.rows > kMaxCudaLogitSide || logits.columns > kMaxCudaLogitSide) {
    return LaunchStatus::kUnsupported;
  }
  return LaunchStatus::kOk;
}

inline bool are_parts(std::int64_t parts) { return parts >= 1 && parts <= kMaxCudaGridSide; }

// is_good: as check_logits().
inline LaunchStatus check_seen_logits(const CudaSeenLogits& args, bool is_good) {
  const LaunchStatus status = check_logits(args, is_good && are_parts(args.parts));
  return status == LaunchStatus::kOk && args.rows > kMaxCudaLogitSide / args.group ? LaunchStatus::kUnsupported : status;
}

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

inline LaunchStatus check_arguments(const CudaCrossModalArgs& args) {
  return check_seen_logits(args, args.row_of != nullptr && args.column_of != nullptr && args.entropy != nullptr &&
                                     args.workspace != nullptr && reinterpret_cast<std::uintptr_t>(args.workspace) % alignof(double) == 0);
}

inline LaunchStatus check_arguments(const CudaRowMaximaArgs& args) { return check_seen_logits(args, args.maxima != nullptr); }

inline LaunchStatus check_arguments(const CudaCountBelowArgs& args) {
  return check_seen_logits(args, args.maxima != nullptr && args.counts != nullptr);
}

}  // namespace winnow::kernels
