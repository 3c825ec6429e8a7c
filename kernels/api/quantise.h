// Numbers into the blocks of few bits that block_types.h has: each to the nearest of the values that its block's scale makes.
//
// Used by engine/models/block_packing.h when a model is held in fewer bits than its file. A block's scale spans its 32 numbers: in Q8_0
// from minus to plus the largest magnitude in 255 steps, in Q4_1 from the smallest to the largest in 15. Codes are chosen for the scale as
// it is stored, in 16 bits. Never throws, never allocates; calls on different blocks are independent of each other. kBadArgument: a missing
// pointer or a number that is no multiple of 32. kUnsupported: another type, or numbers that are not finite or too large for a scale.
#pragma once

#include <cstdint>

#include "kernels/api/block_types.h"
#include "kernels/api/element_type.h"

namespace winnow::kernels {

struct QuantiseArgs {
  BlockType type = BlockType::kQ8_0;
  const float* values = nullptr;  // [elements]
  std::int64_t elements = 0;
  void* blocks = nullptr;  // [elements / 32], each block_bytes(type)
};

LaunchStatus quantise(const QuantiseArgs& args);

}  // namespace winnow::kernels
