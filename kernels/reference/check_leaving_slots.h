// The argument rules of operators on evicted slots, the same for every implementation.
#pragma once

#include "kernels/api/cuda_change_slots.h"
#include "kernels/api/cuda_nearest_slots.h"
#include "kernels/api/cuda_unit_keys.h"

namespace winnow::kernels {

inline LaunchStatus check_arguments(const CudaChangeSlotsArgs& args) {
  if (!is_known(args.type) || args.head_dim < 1 || args.lists < 1 || args.changes == nullptr || args.begin == nullptr) {
    return LaunchStatus::kBadArgument;
  }
  const bool counts = args.lists <= kMaxChangeLists && args.head_dim <= kMaxChangedWidth;
  return counts ? LaunchStatus::kOk : LaunchStatus::kUnsupported;
}

inline LaunchStatus check_arguments(const CudaUnitKeysArgs& args) {
  if (!is_known(args.type) || args.head_dim < 1 || args.count < 1 || args.keys == nullptr || args.lengths == nullptr) {
    return LaunchStatus::kBadArgument;
  }
  if (args.frequencies != nullptr && args.head_dim % 2 != 0) return LaunchStatus::kBadArgument;
  const bool counts = args.count <= kMaxUnitKeys && args.head_dim <= kMaxUnitKeyWidth;
  return counts ? LaunchStatus::kOk : LaunchStatus::kUnsupported;
}

inline LaunchStatus check_arguments(const CudaNearestSlotsArgs& args) {
  if (!is_known(args.type) || args.head_dim < 1 || args.block_slots < 1 || args.count < 1 || args.parts < 1 || args.asked == nullptr ||
      args.found == nullptr) {
    return LaunchStatus::kBadArgument;
  }
  const bool counts = args.head_dim <= kMaxSimilarWidth && args.count <= kMaxSimilarAsked && args.parts <= kMaxSimilarParts;
  return counts ? LaunchStatus::kOk : LaunchStatus::kUnsupported;
}

}  // namespace winnow::kernels
