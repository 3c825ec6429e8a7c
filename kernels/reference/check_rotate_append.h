// The argument rules of rotate and append, the same for every implementation; reads no device memory.
#pragma once

#include "kernels/api/cuda_rotate_append.h"

namespace winnow::kernels {

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
