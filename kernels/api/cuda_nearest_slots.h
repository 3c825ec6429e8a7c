// Nearest other slot by cosine for slots that are evicted, on an NVIDIA GPU: for all layers and heads in one launch.
//
// Used by engine/compression (through engine/cuda_plugin); implemented in kernels/cuda/nearest_slots.cu. Similarity is the cosine of keys,
// times that of values if requested: the evicted row at length 1 times the other row, divided by the other's length; lengths are at least
// kLeastKeyLength. NaN is never nearest. A head is searched in parts of kNearestSlotPart slots with a result each; the caller combines
// these few dozen. Sums are fp32, always in the same order. Never throws, never allocates, does not wait for the device. kBadArgument: a
// missing pointer, a size below 1, an unknown type. kUnsupported: more than the limits. kDeviceError: the launch failed.
#pragma once

#include <cstdint>

#include "kernels/api/cuda_unit_keys.h"
#include "kernels/api/element_type.h"

namespace winnow::kernels {

inline constexpr std::int64_t kNearestSlotPart = 512;
inline constexpr std::int64_t kMaxSimilarParts = 65535;
inline constexpr std::int64_t kMaxSimilarAsked = std::int64_t{1} << 30;
inline constexpr std::int64_t kMaxSimilarWidth = 512;
inline constexpr std::int64_t kNearestSlotWordSlots = 32;  // slots in a word of the mask

struct SimilarAsked {
  const void* const* key_blocks = nullptr;    // of the head: pointers to [block_slots, head_dim]
  const void* const* value_blocks = nullptr;  // likewise; null: keys only
  const std::uint32_t* among = nullptr;       // mask: bit i of word w is slot kNearestSlotWordSlots * w + i; null: all
  std::int32_t slots = 0;
  std::int32_t slot = 0;  // the evicted one
};

struct SimilarFound {
  float similarity = 0.0F;
  std::int32_t slot = -1;  // the first nearest one, or negative
  std::int32_t count = 0;  // of slots as near
};

struct CudaNearestSlotsArgs {
  ElementType type = ElementType::kFp32;
  std::int64_t head_dim = 0;
  std::int64_t block_slots = 0;
  std::int64_t count = 0;
  std::int64_t parts = 0;               // of the longest head
  const SimilarAsked* asked = nullptr;  // [count]
  SimilarFound* found = nullptr;        // [count, parts]
};

// All pointers host memory.
LaunchStatus cuda_nearest_slots_reference(const CudaNearestSlotsArgs& args);
// stream: a cudaStream_t; the null pointer is the default stream.
LaunchStatus cuda_nearest_slots(const CudaNearestSlotsArgs& args, void* stream);

}  // namespace winnow::kernels
