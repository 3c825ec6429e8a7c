// GEMV for a few input rows with a quantised matrix (block_types.h) on an NVIDIA GPU, for decode steps with weights in their file's type.
//
// Used by engine/layers (through engine/cuda_plugin); implemented in kernels/cuda/block_gemv.cu. Neither inputs nor dequantised weights are
// rounded; sums are fp32, and the result is rounded to the element type. The same inputs give the same bits. Pointers are device memory.
// Never throws, never allocates, does not wait for the device. kBadArgument: a missing or misaligned pointer, a size below 1, columns that
// are not a multiple of the type's block and of kCudaPieceElements, an unknown type. kUnsupported: more than the limits here. kDeviceError:
// the launch failed.
#pragma once

#include <cstdint>

#include "kernels/api/block_types.h"
#include "kernels/api/element_type.h"

namespace winnow::kernels {

inline constexpr std::int64_t kCudaPieceElements = 8;              // elements that a thread dequantises together
inline constexpr std::int64_t kCudaAlignment = 16;                 // bytes, of quantised matrices and of dense rows
inline constexpr std::int64_t kMaxCudaProductInputs = 8;           // their sums are held in registers
inline constexpr std::int64_t kMaxCudaMatrixSide = 1'000'000'000;  // rows and columns are counted in 32 bits

struct CudaBlockGemvArgs {
  BlockType type = BlockType::kF32;
  const void* matrix = nullptr;  // interleaved blocks (cuda_block_layout.h), aligned to kCudaAlignment
  std::int64_t columns = 0;
  std::int64_t rows = 0;  // of the matrix and of the output
  // Output i is the product with matrix row row_of[i]; null: row i.
  const std::int32_t* row_of = nullptr;
  const void* input = nullptr;  // [inputs, columns], aligned to kCudaAlignment
  std::int64_t inputs = 0;
  ElementType element = ElementType::kFp32;  // of input and output
  void* output = nullptr;                    // [inputs, output_stride]; row i at [i]
  std::int64_t output_stride = 0;            // in elements, at least `rows`
};

// All pointers host memory.
LaunchStatus cuda_block_gemv_reference(const CudaBlockGemvArgs& args);
// stream: a cudaStream_t; the null pointer is the default stream.
LaunchStatus cuda_block_gemv(const CudaBlockGemvArgs& args, void* stream);

}  // namespace winnow::kernels
