// Codes that somebody else chose into the blocks of block_types.h, without changing one: only a scale that
// has more digits than 16 bits (fp16) hold is rounded to the nearest that they do.
//
// Used by engine/model_files for folders whose weights are quantised already. Codes have no sign; blocks of Q4_0 and Q8_0 fit codes whose
// zero is the middle (8, 128), the others say which code is zero. Never throws, never allocates; calls on different blocks are independent
// of each other. kBadArgument: a missing pointer or a number that is no multiple of 32. kUnsupported: another type.
#pragma once

#include <cstdint>

#include "kernels/api/block_types.h"
#include "kernels/api/element_type.h"

namespace winnow::kernels {

struct PackCodesArgs {
  BlockType type = BlockType::kQ4_0;    // or kQ8_0, kU4Z, kU8Z
  const std::uint8_t* codes = nullptr;  // [elements]; of four bits the low ones count
  std::int64_t elements = 0;
  const float* scales = nullptr;        // [elements / 32]
  const std::uint8_t* zeros = nullptr;  // [elements / 32]; not read for kQ4_0 and kQ8_0
  void* blocks = nullptr;               // [elements / 32], each block_bytes(type)
};

LaunchStatus pack_codes(const PackCodesArgs& args);

}  // namespace winnow::kernels
