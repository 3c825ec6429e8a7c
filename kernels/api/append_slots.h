// Appends the keys and values of new tokens to the blocks of a layer's KV heads, each head behind the slots it already has.
//
// Used by engine/kv_cache on a GPU (through engine/cuda_plugin), where one launch replaces two copies per head and block. The reference is
// kernels/reference/slots.cpp on host pointers; on a CPU the cache copies without an operator. Elements of 2 or 4 bytes are copied
// unchanged. Never throws, never allocates. kBadArgument: a missing pointer, a size below 1, a negative slot count, another element size.
// kUnsupported: more than kMaxAppendHeads heads. kDeviceError: the launch failed.
#pragma once

#include <cstdint>

#include "kernels/api/decode_attention.h"

namespace winnow::kernels {

inline constexpr std::int64_t kMaxAppendHeads = 256;

struct AppendSlotsArgs {
  const void* key = nullptr;  // [kv_heads, tokens, head_dim] with the strides below (in elements) and a contiguous last dimension
  const void* value = nullptr;
  std::int64_t key_head_stride = 0;
  std::int64_t key_token_stride = 0;
  std::int64_t value_head_stride = 0;
  std::int64_t value_token_stride = 0;
  std::int64_t element_bytes = 0;
  std::int64_t kv_heads = 0;
  std::int64_t tokens = 0;
  std::int64_t head_dim = 0;
  const std::int32_t* slots = nullptr;    // host: [kv_heads], slots in use before the new ones
  const std::int32_t* further = nullptr;  // one value on the device, added to every head's slots; null: 0
  void* const* key_blocks = nullptr;      // [kv_heads, table_stride] pointers to [block_slots, head_dim]; cover the new slots
  void* const* value_blocks = nullptr;
  std::int64_t table_stride = 0;
  std::int64_t block_slots = 0;
};

// All pointers host memory.
LaunchStatus append_slots_reference(const AppendSlotsArgs& args);
// All pointers except `slots` are device memory. stream: a cudaStream_t.
LaunchStatus cuda_append_slots(const AppendSlotsArgs& args, void* stream);

}  // namespace winnow::kernels
