// The argument rules of append_slots, the same for every implementation; reads no device memory.
#pragma once

#include "kernels/api/append_slots.h"

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

}  // namespace winnow::kernels
