// Attention of one query token over a layer with slots that several tokens share (EMS), on an NVIDIA GPU: all KV heads at once, keys and
// values read in place.
//
// Used by engine/layers (through engine/cuda_plugin); implemented in kernels/cuda/shared_attention.cu. A head's tokens are its table's, in
// order, then one for every slot from `covered` on, so appending needs no new table. A token's logit is scale * factor * (query . key of
// its slot); the key is rotated by the token's position if positions are given. Its value is its slot's. Long heads are split into parts of
// their tokens that are attended in parallel and merged in order: the same inputs give the same bits. Pointers are device memory unless
// they say host. Never throws, never allocates, does not wait for the device; one launch, or two with parts or probabilities. kBadArgument:
// a missing pointer, a size below its minimum, an unknown element type, counts of a head that contradict each other or the tables,
// positions without frequencies or the reverse, positions for an odd head size. kUnsupported: more than the limits here, in
// cuda_decode_attention.h and in element_type.h. kDeviceError: the launch failed.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/api/cuda_decode_attention.h"
#include "kernels/api/element_type.h"

namespace winnow::kernels {

// Instead of a table's slot: the token is masked, or has logit 0 and a zero value.
inline constexpr std::int32_t kMaskedToken = -1;
inline constexpr std::int32_t kZeroToken = -2;
inline constexpr std::int64_t kMaxSharedTokens = 1'000'000'000;  // of a head, counted in 32 bits
inline constexpr std::int64_t kMaxSharedParts = 65535;

struct CudaSharedAttentionArgs {
  const void* query = nullptr;            // [kv_heads, group, head_dim], of `type`, contiguous
  void* output = nullptr;                 // as query
  ElementType type = ElementType::kFp32;  // of query, keys, values and output
  std::int64_t kv_heads = 0;
  std::int64_t group = 0;
  std::int64_t head_dim = 0;
  const void* const* key_blocks = nullptr;    // [kv_heads, table_stride] pointers to [block_slots, head_dim], each aligned to 16 bytes
  const void* const* value_blocks = nullptr;  // as key_blocks
  std::int64_t table_stride = 0;
  std::int64_t block_slots = 0;
  const std::int32_t* slots = nullptr;    // host: [kv_heads], slots in use of each head, >= 1
  const std::int32_t* listed = nullptr;   // host: [kv_heads], tokens in the head's table, >= 0
  const std::int32_t* covered = nullptr;  // host: [kv_heads], slots below are only read through the table; at most `slots`
  // The tables, [kv_heads, entry_stride] each; a head's first `listed` entries are read. Slots are below the head's `slots`.
  std::int64_t entry_stride = 0;             // >= 1
  const std::int32_t* entry_slot = nullptr;  // or kMaskedToken, kZeroToken
  const float* entry_factor = nullptr;       // of the logit
  const float* entry_position = nullptr;     // that the key is rotated to (rotate-half); null: no rotation
  const float* frequencies = nullptr;        // [head_dim / 2], angle of a pair per position; null as entry_position
  float scale = 1.0F;
  float* log_sum_exp = nullptr;    // [kv_heads, group], natural log, or null
  float* probabilities = nullptr;  // [kv_heads, probability_stride], mean over the group, a head's tokens in their order; or null
  std::int64_t probability_stride = 0;
  std::int64_t parts = 1;      // at most this many parts per head: cuda_decode_parts() of the longest head
  float* workspace = nullptr;  // cuda_shared_attention_workspace() floats
};

inline std::int64_t shared_tokens(const CudaSharedAttentionArgs& args, std::int64_t kv_head) {
  return std::int64_t{args.listed[kv_head]} + args.slots[kv_head] - args.covered[kv_head];
}

inline std::int64_t longest_shared_head(const CudaSharedAttentionArgs& args) {
  std::int64_t longest = 0;
  for (std::int64_t head = 0; head < args.kv_heads; ++head) longest = std::max(longest, shared_tokens(args, head));
  return longest;
}

// Floats: the output and the log-sum-exp of every part, and the logits if probabilities are requested.
inline std::int64_t cuda_shared_attention_workspace(const CudaSharedAttentionArgs& args) {
  const std::int64_t logits = args.probabilities != nullptr ? args.kv_heads * args.group * longest_shared_head(args) : 0;
  return cuda_decode_workspace(args.kv_heads, args.group, args.head_dim, args.parts) + logits;
}

// All pointers host memory; the workspace is not used. kBadArgument also if a table names a slot outside its head.
LaunchStatus cuda_shared_attention_reference(const CudaSharedAttentionArgs& args);
// stream: a cudaStream_t; the null pointer is the default stream.
LaunchStatus cuda_shared_attention(const CudaSharedAttentionArgs& args, void* stream);

}  // namespace winnow::kernels
