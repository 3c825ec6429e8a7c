// Dequantises rows of a quantised matrix (block_types.h) on an NVIDIA GPU: a slice of a matrix for the GEMM of a prompt, or rows of an
// embedding table.
//
// Used by engine/layers (through engine/cuda_plugin); implemented in kernels/cuda/dequantise_rows.cu. Values are those of dequantise() to
// the bit, rounded to the element type. Pointers are device memory. Never throws, never allocates, does not wait for the device.
// kBadArgument and kDeviceError as in cuda_block_gemv.h. kUnsupported: more than the limits there, or more than kMaxCudaDequantised
// elements.
#pragma once

#include <cstdint>

#include "kernels/api/cuda_block_gemv.h"

namespace winnow::kernels {

inline constexpr std::int64_t kMaxCudaDequantised = std::int64_t{1} << 33;

struct CudaDequantiseRowsArgs {
  BlockType type = BlockType::kF32;
  const void* matrix = nullptr;  // as CudaBlockGemvArgs
  std::int64_t columns = 0;
  std::int64_t rows = 0;
  const std::int32_t* row_of = nullptr;     // as CudaBlockGemvArgs
  const std::int32_t* column_of = nullptr;  // [columns], where stored column i belongs; null: i
  // Without `ids`: `count` rows from `first` on. With `ids`: row ids[i] - first for each; output rows whose id is outside this matrix are
  // not written, so a table in several parts takes one call a part.
  std::int64_t first = 0;
  std::int64_t count = 0;
  const std::int64_t* ids = nullptr;
  ElementType element = ElementType::kFp32;
  void* output = nullptr;  // [count, columns], aligned to kCudaAlignment
};

// All pointers host memory.
LaunchStatus cuda_dequantise_rows_reference(const CudaDequantiseRowsArgs& args);
// stream: a cudaStream_t; the null pointer is the default stream.
LaunchStatus cuda_dequantise_rows(const CudaDequantiseRowsArgs& args, void* stream);

}  // namespace winnow::kernels
