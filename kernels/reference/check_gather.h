// The argument rules of gather_slots, the same for every implementation; reads no device memory.
#pragma once

#include "kernels/api/gather_slots.h"

namespace winnow::kernels {

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

}  // namespace winnow::kernels
