// Copies the kept slots of a layer's KV heads into other blocks when a layer is compacted.
//
// Used by engine/kv_cache on a GPU (through engine/cuda_plugin), where one launch moves K and V of all heads. The reference is
// kernels/reference/slots.cpp on host pointers; on a CPU the cache copies without an operator. Rows are copied unchanged. No block
// may be both read and written. Never throws, never allocates. kBadArgument: a missing pointer, a size below 1, a row of an odd number of
// bytes, slots outside the block lists; `sources` is not checked. kUnsupported: more than kMaxAppendHeads heads. kDeviceError: the launch
// failed.
#pragma once

#include <cstdint>

#include "kernels/api/append_slots.h"

namespace winnow::kernels {

struct GatherSlotsArgs {
  std::int64_t kv_heads = 0;
  std::int64_t row_bytes = 0;  // of K, and of V, of a slot
  std::int64_t block_slots = 0;
  // [kv_heads, stride] pointers to [block_slots] rows, which begin at multiples of 16 bytes. Only blocks with the slots below are accessed.
  const void* const* from_key_blocks = nullptr;
  const void* const* from_value_blocks = nullptr;
  std::int64_t from_stride = 0;
  void* const* to_key_blocks = nullptr;
  void* const* to_value_blocks = nullptr;
  std::int64_t to_stride = 0;
  const std::int32_t* first = nullptr;    // host: [kv_heads], the first slot that is written
  const std::int32_t* count = nullptr;    // host: [kv_heads], slots written from there; may be 0
  const std::int32_t* sources = nullptr;  // [sum of count], head after head: the source slot of each
};

// All pointers host memory.
LaunchStatus gather_slots_reference(const GatherSlotsArgs& args);
// All pointers except `first` and `count` are device memory. stream: a cudaStream_t.
LaunchStatus cuda_gather_slots(const GatherSlotsArgs& args, void* stream);

}  // namespace winnow::kernels
