// The argument rules of operators that move, merge and compare slots, the same for every implementation.
#pragma once

#include "kernels/api/append_slots.h"
#include "kernels/api/cuda_change_slots.h"
#include "kernels/api/cuda_merge_rows.h"
#include "kernels/api/cuda_nearest_rows.h"
#include "kernels/api/cuda_nearest_slots.h"
#include "kernels/api/cuda_rotate_append.h"
#include "kernels/api/cuda_unit_keys.h"
#include "kernels/api/gather_slots.h"

namespace winnow::kernels {

inline LaunchStatus check_append(const AppendSlotsArgs& args) {
  if (args.key == nullptr || args.value == nullptr || args.slots == nullptr || args.key_blocks == nullptr || args.value_blocks == nullptr ||
      args.kv_heads < 1 || args.tokens < 1 || args.head_dim < 1 || args.block_slots < 1 ||
      (args.element_bytes != 2 && args.element_bytes != 4)) {
    return LaunchStatus::kBadArgument;
  }
  if (args.kv_heads > kMaxAppendHeads) return LaunchStatus::kUnsupported;
  for (std::int64_t head = 0; head < args.kv_heads; ++head) {
    if (args.slots[head] < 0 || args.slots[head] + args.tokens > args.table_stride * args.block_slots) return LaunchStatus::kBadArgument;
  }
  return LaunchStatus::kOk;
}

inline LaunchStatus check_gather(const GatherSlotsArgs& args) {
  if (args.from_key_blocks == nullptr || args.from_value_blocks == nullptr || args.to_key_blocks == nullptr ||
      args.to_value_blocks == nullptr || args.first == nullptr || args.count == nullptr || args.sources == nullptr || args.kv_heads < 1 ||
      args.row_bytes < 1 || args.row_bytes % 2 != 0 || args.block_slots < 1 || args.from_stride < 1) {
    return LaunchStatus::kBadArgument;
  }
  if (args.kv_heads > kMaxAppendHeads) return LaunchStatus::kUnsupported;
  for (std::int64_t head = 0; head < args.kv_heads; ++head) {
    if (args.first[head] < 0 || args.count[head] < 0 ||
        std::int64_t{args.first[head]} + args.count[head] > args.to_stride * args.block_slots) {
      return LaunchStatus::kBadArgument;
    }
  }
  return LaunchStatus::kOk;
}

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

inline LaunchStatus check_arguments(const CudaRotateAppendArgs& args) {
  if (args.input == nullptr || args.cosine == nullptr || args.sine == nullptr || args.queries == nullptr || args.slots == nullptr ||
      args.key_blocks == nullptr || args.value_blocks == nullptr || args.heads < 1 || args.kv_heads < 1 || args.half < 1 ||
      args.block_slots < 1 || !is_known(args.type)) {
    return LaunchStatus::kBadArgument;
  }
  if (args.kv_heads > kMaxAppendHeads || args.heads > kMaxRotaryPairs || args.half > kMaxRotaryPairs ||
      (args.heads + args.kv_heads) * args.half > kMaxRotaryPairs) {
    return LaunchStatus::kUnsupported;
  }
  for (std::int64_t head = 0; head < args.kv_heads; ++head) {
    if (args.slots[head] < 0 || args.slots[head] >= args.table_stride * args.block_slots) return LaunchStatus::kBadArgument;
  }
  return LaunchStatus::kOk;
}

}  // namespace winnow::kernels
