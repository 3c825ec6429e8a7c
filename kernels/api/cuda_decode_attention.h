// Attention of one query token over all KV heads of a layer on an NVIDIA GPU: kernels/api/decode_attention.h for every KV head at once.
//
// Used by engine/cuda_plugin; implemented in kernels/cuda/decode_attention.cu. The reference is decode_attention_reference, head by head.
// Pointers are device memory unless they say host. Never throws, never allocates, does not wait for the device. Long heads are split into
// parts that are attended in parallel and merged by their log-sum-exp. kBadArgument: a missing pointer, a size below 1, a head without
// slots, an unknown element type. kUnsupported: more than the limits here and in decode_attention.h, or blocks that are not a multiple of
// 64 slots. kDeviceError: the launch failed.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/api/decode_attention.h"

namespace winnow::kernels {

inline constexpr std::int64_t kMaxCudaKvHeads = 256;  // their slot counts are launch arguments
inline constexpr std::int64_t kCudaTileSlots = 64;    // slots that a thread block scores together; divides block_slots
inline constexpr std::int64_t kCudaPartTiles = 2;     // least tiles of a part
inline constexpr std::int64_t kMaxCudaParts = 1024;   // of a head
inline constexpr std::int64_t kCudaGroupTile = 8;     // query heads that a thread block serves

struct CudaDecodeAttentionArgs {
  const void* query = nullptr;            // [kv_heads, group, head_dim], of `type`, contiguous
  void* output = nullptr;                 // as query
  ElementType type = ElementType::kFp32;  // of query, keys, values and output
  std::int64_t kv_heads = 0;
  std::int64_t group = 0;
  std::int64_t head_dim = 0;
  const void* const* key_blocks = nullptr;    // [kv_heads, table_stride] pointers to [block_slots, head_dim], each aligned to 16 bytes
  const void* const* value_blocks = nullptr;  // as key_blocks
  std::int64_t table_stride = 0;
  const std::int32_t* slots = nullptr;    // host: [kv_heads], slots in use of each head, >= 1
  const std::int32_t* further = nullptr;  // one value on the device, added to every head's slots; null: 0
  std::int64_t most_further = 0;          // host: *further is never larger
  std::int64_t block_slots = 0;
  float scale = 1.0F;
  float* log_sum_exp = nullptr;    // [kv_heads, group], natural log, or null
  float* probabilities = nullptr;  // [kv_heads, group, probability_stride], or null; a head's first slots[kv_head] entries are written
  std::int64_t probability_stride = 0;
  std::int64_t parts = 1;      // at most this many parts per head: cuda_decode_parts()
  float* workspace = nullptr;  // cuda_decode_workspace() floats
};

// Enough parts to fill the device twice, none shorter than kCudaPartTiles.
inline std::int64_t cuda_decode_parts(std::int64_t longest_head, std::int64_t kv_heads, std::int64_t group, std::int64_t multiprocessors) {
  const std::int64_t blocks_per_part = kv_heads * ((group + kCudaGroupTile - 1) / kCudaGroupTile);
  const std::int64_t wanted = (2 * multiprocessors + blocks_per_part - 1) / blocks_per_part;
  constexpr std::int64_t kPartSlots = kCudaPartTiles * kCudaTileSlots;
  return std::clamp<std::int64_t>((longest_head + kPartSlots - 1) / kPartSlots, 1, std::clamp<std::int64_t>(wanted, 1, kMaxCudaParts));
}

// Floats: the output and the log-sum-exp of every part.
inline std::int64_t cuda_decode_workspace(std::int64_t kv_heads, std::int64_t group, std::int64_t head_dim, std::int64_t parts) {
  return kv_heads * group * parts * (head_dim + 1);
}

// stream: a cudaStream_t; the null pointer is the default stream.
LaunchStatus cuda_decode_attention(const CudaDecodeAttentionArgs& args, void* stream);

}  // namespace winnow::kernels
