// The argument rules of merging kernels, the same for every implementation.
#pragma once

#include "kernels/api/cuda_merge_rows.h"
#include "kernels/api/cuda_nearest_rows.h"

namespace winnow::kernels {

inline LaunchStatus check_arguments(const CudaNearestRowsArgs& args) {
  if (!is_known(args.type) || args.first == nullptr || args.asking == nullptr || args.among == nullptr || args.similarity == nullptr ||
      args.nearest == nullptr || args.workspace == nullptr || args.width < 1 || args.asking_count < 0 || args.among_count < 1 ||
      args.parts < 1 || args.parts > kMaxNearestParts) {
    return LaunchStatus::kBadArgument;
  }
  if (args.width > kMaxNearestRows || args.asking_count > kMaxNearestRows || args.among_count > kMaxNearestRows) {
    return LaunchStatus::kUnsupported;
  }
  return LaunchStatus::kOk;
}

inline LaunchStatus check_arguments(const CudaMergeRowsArgs& args) {
  if (args.rows == nullptr || args.stay == nullptr || args.own == nullptr || args.divisor == nullptr || args.begin == nullptr ||
      (args.from == nullptr) != (args.weight == nullptr) || args.output == nullptr || args.width < 1 || args.count < 0) {
    return LaunchStatus::kBadArgument;
  }
  if (args.count > kMaxMergedRows || args.width > kMaxMergedRows) return LaunchStatus::kUnsupported;
  return LaunchStatus::kOk;
}

}  // namespace winnow::kernels
