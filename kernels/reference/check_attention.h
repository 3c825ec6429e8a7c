// The argument rules of attention, the same for every implementation, and the plan of a decode launch on a GPU: host code without CUDA, so
// that it is tested everywhere.
#pragma once

#include "kernels/api/cuda_decode_attention.h"
#include "kernels/api/cuda_shared_attention.h"
#include "kernels/api/decode_attention.h"
#include "kernels/api/prefill_attention.h"

namespace winnow::kernels {

inline LaunchStatus check_arguments(const PrefillAttentionArgs& args) {
  if (args.query == nullptr || args.key == nullptr || args.value == nullptr || args.output == nullptr || args.log_sum_exp == nullptr ||
      args.workspace == nullptr || args.group < 1 || args.rows < 1 || args.keys < 1 || args.head_dim < 1 || !is_known(args.type)) {
    return LaunchStatus::kBadArgument;
  }
  const bool sums = args.column_sums != nullptr;
  if (sums != (args.kept != nullptr) || (!sums && args.column_squares != nullptr)) return LaunchStatus::kBadArgument;
  if (args.head_dim > kMaxHeadDim) return LaunchStatus::kUnsupported;
  return LaunchStatus::kOk;
}

// The argument rules of decode attention, the same for every implementation.
inline LaunchStatus check_arguments(const DecodeAttentionArgs& args) {
  if (args.query == nullptr || args.output == nullptr || args.workspace == nullptr || args.key_blocks == nullptr ||
      args.value_blocks == nullptr || args.group < 1 || args.head_dim < 1 || args.slots < 1 || args.block_slots < 1 ||
      !is_known(args.kv_type) || (args.codes != RowCodes::kInt8 && args.codes != RowCodes::kInt4)) {
    return LaunchStatus::kBadArgument;
  }
  const DecodeKeyBias& bias = args.key_bias;
  if (bias.query != nullptr && (bias.units == nullptr || bias.count < 1 || bias.rotations == nullptr || bias.of_slots == nullptr)) {
    return LaunchStatus::kBadArgument;
  }
  const std::int64_t blocks = (args.slots - 1) / args.block_slots + 1;
  for (std::int64_t i = 0; i < blocks; ++i) {
    if (args.key_blocks[i] == nullptr || args.value_blocks[i] == nullptr) return LaunchStatus::kBadArgument;
  }
  const bool half_a_byte = args.narrow && args.codes == RowCodes::kInt4 && args.head_dim % 2 != 0;
  if (args.group > kMaxGroup || args.head_dim > kMaxHeadDim || half_a_byte) return LaunchStatus::kUnsupported;
  return LaunchStatus::kOk;
}

// The argument rules of CUDA decode attention and the plan of its launch: host code without CUDA, so that it is tested everywhere.
inline LaunchStatus check_arguments(const CudaDecodeAttentionArgs& args) {
  if (args.query == nullptr || args.output == nullptr || args.key_blocks == nullptr || args.value_blocks == nullptr ||
      args.slots == nullptr || args.workspace == nullptr || args.kv_heads < 1 || args.group < 1 || args.head_dim < 1 ||
      args.block_slots < 1 || args.parts < 1 || args.most_further < 0 || !is_known(args.type)) {
    return LaunchStatus::kBadArgument;
  }
  if (args.kv_heads > kMaxCudaKvHeads || args.parts > kMaxCudaParts || args.group > kMaxGroup || args.head_dim > kMaxHeadDim ||
      args.block_slots % kCudaTileSlots != 0) {
    return LaunchStatus::kUnsupported;
  }
  for (std::int64_t head = 0; head < args.kv_heads; ++head) {
    const std::int64_t most = args.slots[head] + args.most_further;
    if (args.slots[head] < 1 || most > args.table_stride * args.block_slots) return LaunchStatus::kBadArgument;
    if (args.probabilities != nullptr && most > args.probability_stride) return LaunchStatus::kBadArgument;
  }
  return LaunchStatus::kOk;
}

// Rows of every part but a head's last: whole tiles, so that `parts` of them cover the longest head.
inline std::int64_t cuda_part_rows(std::int64_t longest, std::int64_t parts) {
  const std::int64_t share = (longest + parts - 1) / parts;
  return (share + kCudaTileSlots - 1) / kCudaTileSlots * kCudaTileSlots;
}

// The argument rules of attention over shared slots, the same for every implementation.
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
