// The argument rules of CUDA decode attention and the plan of its launch: host code without CUDA, so that it is tested everywhere.
#pragma once

#include "kernels/api/cuda_decode_attention.h"

namespace winnow::kernels {

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

}  // namespace winnow::kernels
