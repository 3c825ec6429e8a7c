// For slots that leave their heads the most similar other slot, on an NVIDIA GPU: of all layers and heads by one launch.
//
// Used by engine/compression (through engine/cuda_plugin); implemented in kernels/cuda/nearest_slots.cu. Similarity is the cosine of keys,
// times that of values where somebody asks for it: the product of the leaving row at length 1 with the other row, divided by the other's
// length; lengths are at least kLeastKeyLength. What is not a number is similar to nothing. A head is looked through in parts of
// kNearestSlotPart slots, each of which answers for itself: joining some dozen numbers is the caller's. Sums are fp32, always in the same
// order. Never throws, never allocates, does not wait for the device. kBadArgument: a missing pointer, a size below 1, an unknown type.
// kUnsupported: more than the limits. kDeviceError: the launch failed.
#pragma once

#include <cstdint>

#include "kernels/api/cuda_unit_keys.h"
#include "kernels/api/element_type.h"

namespace winnow::kernels {

inline constexpr std::int64_t kNearestSlotPart = 512;
inline constexpr std::int64_t kMaxSimilarParts = 65535;
inline constexpr std::int64_t kMaxSimilarAsked = std::int64_t{1} << 30;
inline constexpr std::int64_t kMaxSimilarWidth = 512;
inline constexpr std::int64_t kNearestSlotWordSlots = 32;  // of a word that says who takes part

struct SimilarAsked {
  const void* const* key_blocks = nullptr;    // of the head: pointers to [block_slots, head_dim]
  const void* const* value_blocks = nullptr;  // likewise; null: keys decide alone
  const std::uint32_t* among = nullptr;       // bit i of word w: slot kNearestSlotWordSlots * w + i takes part; null: all do
  std::int32_t slots = 0;
  std::int32_t slot = 0;  // that leaves
};

struct SimilarFound {
  float similarity = 0.0F;
  std::int32_t slot = -1;  // the first one that is so similar; negative: there is none
  std::int32_t count = 0;  // of slots that are
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
