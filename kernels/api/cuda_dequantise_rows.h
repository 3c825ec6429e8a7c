// Rows of a matrix whose numbers are stored in blocks (block_types.h) as numbers, on an NVIDIA GPU: some of a matrix at a time for the
// product of a prompt, or the rows that a table is asked for.
//
// Used by engine/layers (through engine/cuda_plugin); implemented in kernels/cuda/dequantise_rows.cu. Values are those of dequantise() to
// the bit, rounded to the element type. Pointers are device memory. Never throws, never allocates, does not wait for the device.
// kBadArgument and kDeviceError as in cuda_block_gemv.h. kUnsupported: more than the limits there, or more than kMaxCudaDequantised
// numbers.
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
  const std::int32_t* column_of = nullptr;  // [columns], which column stored column i is; null: the i-th
  // Which rows, in one of two ways. Without `ids`: `count` rows from `first` on. With them: of each, row ids[i] - first; an output row
  // whose id is of no row here is left as it is, so that parts of a table that lie one below the other are asked one after the other.
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
