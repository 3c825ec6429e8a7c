// The argument rules of attention over shared slots, the same for every implementation.
#pragma once

#include "kernels/api/cuda_shared_attention.h"

namespace winnow::kernels {

inline LaunchStatus check_arguments(const CudaSharedAttentionArgs& args) {
  if (args.query == nullptr || args.output == nullptr || args.key_blocks == nullptr || args.value_blocks == nullptr ||
      args.slots == nullptr || args.listed == nullptr || args.covered == nullptr || args.entry_slot == nullptr ||
      args.entry_factor == nullptr || (args.entry_position == nullptr) != (args.frequencies == nullptr) || args.workspace == nullptr ||
      args.kv_heads < 1 || args.group < 1 || args.head_dim < 1 || args.block_slots < 1 || args.entry_stride < 1 || args.parts < 1 ||
      !is_known(args.type) || (args.entry_position != nullptr && args.head_dim % 2 != 0)) {
    return LaunchStatus::kBadArgument;
  }
  if (args.kv_heads > kMaxCudaKvHeads || args.group > kMaxGroup || args.head_dim > kMaxHeadDim || args.parts > kMaxSharedParts) {
    return LaunchStatus::kUnsupported;
  }
  for (std::int64_t head = 0; head < args.kv_heads; ++head) {
    if (args.slots[head] < 1 || args.slots[head] > args.table_stride * args.block_slots || args.listed[head] < 0 ||
        args.listed[head] > args.entry_stride || args.covered[head] < 0 || args.covered[head] > args.slots[head]) {
      return LaunchStatus::kBadArgument;
    }
    const std::int64_t tokens = shared_tokens(args, head);
    if (tokens < 1 || (args.probabilities != nullptr && tokens > args.probability_stride)) return LaunchStatus::kBadArgument;
    if (tokens > kMaxSharedTokens) return LaunchStatus::kUnsupported;
  }
  return LaunchStatus::kOk;
}

}  // namespace winnow::kernels
