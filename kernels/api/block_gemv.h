// GEMV with a quantised matrix (block_types.h): weights are dequantised to fp32 and multiplied with the fp32 input; only the sum is
// rounded.
//
// Used by engine/layers for weights that keep their file's type, with several inputs where several conversations share a step: each input's
// outputs are the same bits as with that input alone. Knows no framework. The reference is kernels/reference/gemv.cpp, the vectorised CPU
// version kernels/cpu. Never throws, never allocates; calls for separate output ranges are independent. kBadArgument: a missing pointer, a
// negative size, columns that are not a multiple of the type's block, or an unknown type.
#pragma once

#include <cstdint>

#include "kernels/api/block_types.h"
#include "kernels/api/element_type.h"

namespace winnow::kernels {

struct BlockGemvArgs {
  BlockType type = BlockType::kF32;
  const void* matrix = nullptr;  // row-major, each row columns / block_elements blocks
  std::int64_t columns = 0;
  // Output i is the product with matrix row row_of[i]; null: row i.
  const std::int32_t* row_of = nullptr;
  std::int64_t begin = 0;  // outputs [begin, end) are computed
  std::int64_t end = 0;
  const float* input = nullptr;  // [columns]
  float* output = nullptr;       // [end]
  std::int64_t inputs = 1;
  std::int64_t input_stride = 0;   // from an input to the next one
  std::int64_t output_stride = 0;  // from an input's outputs to the next one's
};

LaunchStatus block_gemv_reference(const BlockGemvArgs& args);
// Chooses the widest instruction set at run time; equal to the reference up to rounding.
LaunchStatus block_gemv_cpu(const BlockGemvArgs& args);

}  // namespace winnow::kernels
