// Packs codes that were quantised elsewhere into the blocks of block_types.h. Codes are unchanged; a scale that fp16 cannot hold exactly is
// rounded to the nearest fp16 value.
//
// Used by engine/model_files for folders of quantised weights. Codes are unsigned. Q4_0 and Q8_0 fit codes with the zero point in the
// middle (8, 128); the other types store the zero point. Never throws, never allocates; calls on different blocks are independent.
// kBadArgument: a missing pointer or a count that is not a multiple of 32. kUnsupported: another type.
#pragma once

#include <cstdint>

#include "kernels/api/block_types.h"
#include "kernels/api/element_type.h"

namespace winnow::kernels {

struct PackCodesArgs {
  BlockType type = BlockType::kQ4_0;    // or kQ8_0, kU4Z, kU8Z
  const std::uint8_t* codes = nullptr;  // [elements]; only the low 4 bits count for 4-bit types
  std::int64_t elements = 0;
  const float* scales = nullptr;        // [elements / 32]
  const std::uint8_t* zeros = nullptr;  // [elements / 32]; not read for kQ4_0 and kQ8_0
  void* blocks = nullptr;               // [elements / 32], each block_bytes(type)
};

LaunchStatus pack_codes(const PackCodesArgs& args);

}  // namespace winnow::kernels
