// Quantises elements into the blocks of block_types.h, each to the nearest value that its block's scale allows.
//
// Used by block_packing.h (engine/models) when a model is loaded in fewer bits than its file has. A block's scale spans its 32 elements:
// Q8_0 from minus to plus the largest magnitude in 255 steps, Q4_1 from the smallest to the largest in 15. Codes are computed with the
// stored fp16 scale. Never throws, never allocates; calls on different blocks are independent. kBadArgument: a missing pointer or a count
// that is not a multiple of 32. kUnsupported: another type, or elements that are NaN, infinite or too large for a scale.
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
