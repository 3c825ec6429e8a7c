// A vector times a matrix whose numbers are stored in blocks (block_types.h): every stored value is dequantised to fp32 and multiplied
// there, so that nothing but the sum is rounded.
//
// Used by engine/layers for weights that stay in the bits of their file. Knows no framework. The reference is
// kernels/reference/block_gemv.cpp, the vectorised CPU version kernels/cpu. Never throws, never allocates; calls on parts of the
// outputs are independent of each other. kBadArgument: a missing pointer, a negative size, columns that are no multiple of the type's
// block, or an unknown type.
#pragma once

#include <cstdint>

#include "kernels/api/block_types.h"
#include "kernels/api/element_type.h"

namespace winnow::kernels {

struct BlockGemvArgs {
  BlockType type = BlockType::kF32;
  const void* matrix = nullptr;  // rows one after the other, each columns / block_elements blocks
  std::int64_t columns = 0;
  // Row i of the product is row row_of[i] of the matrix; null: row i.
  const std::int32_t* row_of = nullptr;
  std::int64_t begin = 0;  // rows [begin, end) of the product
  std::int64_t end = 0;
  const float* input = nullptr;  // [columns]
  float* output = nullptr;       // [end]: of row i at [i]
};

LaunchStatus block_gemv_reference(const BlockGemvArgs& args);
// Chooses the widest instruction set at run time; equal to the reference up to rounding.
LaunchStatus block_gemv_cpu(const BlockGemvArgs& args);

}  // namespace winnow::kernels
