// The argument rules of decode attention, the same for every implementation.
#pragma once

#include "kernels/api/decode_attention.h"

namespace winnow::kernels {

inline LaunchStatus check_arguments(const DecodeAttentionArgs& args) {
  if (args.query == nullptr || args.output == nullptr || args.workspace == nullptr || args.key_blocks == nullptr ||
      args.value_blocks == nullptr || args.group < 1 || args.head_dim < 1 || args.slots < 1 || args.block_slots < 1 ||
      !is_known(args.kv_type)) {
    return LaunchStatus::kBadArgument;
  }
  const DecodeKeyBias& bias = args.key_bias;
  if (bias.query != nullptr &&
      (!args.narrow || bias.units == nullptr || bias.count < 1 || bias.rotations == nullptr || bias.of_slots == nullptr)) {
    return LaunchStatus::kBadArgument;
  }
  const std::int64_t blocks = (args.slots - 1) / args.block_slots + 1;
  for (std::int64_t i = 0; i < blocks; ++i) {
    if (args.key_blocks[i] == nullptr || args.value_blocks[i] == nullptr) return LaunchStatus::kBadArgument;
  }
  if (args.group > kMaxGroup || args.head_dim > kMaxHeadDim) return LaunchStatus::kUnsupported;
  return LaunchStatus::kOk;
}

}  // namespace winnow::kernels
