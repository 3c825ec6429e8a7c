// Rotates one token's queries and keys to its position and appends its keys and values to the blocks of a layer's KV heads, on an NVIDIA
// GPU. One launch instead of two.
//
// Used by engine/layers (through engine/cuda_plugin) in decode steps that a CUDA graph captures; implemented in
// kernels/cuda/rotate_append.cu. Rotates as rotary.h and appends as append_slots.h. All pointers except `slots` are device memory. Never
// throws, never allocates, does not wait for the device. kBadArgument: a missing pointer, a size below 1, an unknown type, slots outside
// the block lists. kUnsupported: more than kMaxAppendHeads KV heads or kMaxRotaryPairs pairs. kDeviceError: the launch failed.
#pragma once

#include <cstdint>

#include "kernels/api/append_slots.h"
#include "kernels/api/element_type.h"
#include "kernels/api/rotary.h"

namespace winnow::kernels {

struct CudaRotateAppendArgs {
  ElementType type = ElementType::kFp32;  // of all elements
  std::int64_t heads = 0;                 // of queries
  std::int64_t kv_heads = 0;
  std::int64_t half = 0;         // of a head
  const void* input = nullptr;   // [heads + 2 * kv_heads, 2 * half], contiguous: queries, keys, values
  const void* cosine = nullptr;  // [half]
  const void* sine = nullptr;
  void* queries = nullptr;                // [heads, 2 * half], contiguous; not in the input
  const std::int32_t* slots = nullptr;    // host: [kv_heads], slots in use before the token
  const std::int32_t* further = nullptr;  // one value on the device, added to every head's slots; null: 0
  void* const* key_blocks = nullptr;      // [kv_heads, table_stride] pointers to [block_slots, 2 * half]; cover the new slot
  void* const* value_blocks = nullptr;
  std::int64_t table_stride = 0;
  std::int64_t block_slots = 0;
};

// All pointers host memory.
LaunchStatus cuda_rotate_append_reference(const CudaRotateAppendArgs& args);
// stream: a cudaStream_t; the null pointer is the default stream.
LaunchStatus cuda_rotate_append(const CudaRotateAppendArgs& args, void* stream);

}  // namespace winnow::kernels
