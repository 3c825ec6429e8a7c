// The argument rules that all statistics on a GPU share.
#pragma once

#include "kernels/api/cuda_logits.h"

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

}  // namespace winnow::kernels
