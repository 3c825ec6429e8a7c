// Merges rows into the rows that are kept, on an NVIDIA GPU: (own * row + the sum of weight * other row) / divisor.
//
// Used by engine/compression (through engine/cuda_plugin); implemented in kernels/cuda/merge_rows.cu. Every product, sum and quotient is
// rounded to fp32 and merges run in order: always the reference's bits. Pointers are device memory. Never throws, never allocates, does not
// wait for the device; one launch. kBadArgument: a missing pointer (`from` and `weight` may be null if nothing is merged), a size below its
// minimum. kUnsupported: more rows than kMaxMergedRows. kDeviceError: the launch failed.
#pragma once

#include <cstdint>

#include "kernels/api/element_type.h"

namespace winnow::kernels {

inline constexpr std::int64_t kMaxMergedRows = 1'000'000'000;

struct CudaMergeRowsArgs {
  const float* rows = nullptr;  // element i of row r at [r * row_stride + i]
  std::int64_t row_stride = 0;
  std::int64_t width = 0;
  const std::int32_t* stay = nullptr;  // [count] rows
  std::int64_t count = 0;
  const float* own = nullptr;           // [count]
  const float* divisor = nullptr;       // [count]
  const std::int32_t* begin = nullptr;  // [count + 1], ascending from 0: merges into stay[i] are begin[i] to begin[i + 1]
  const std::int32_t* from = nullptr;   // [merges] rows
  const float* weight = nullptr;        // [merges]
  float* output = nullptr;              // [count, width], contiguous; not among the rows
};

// All pointers host memory.
LaunchStatus cuda_merge_rows_reference(const CudaMergeRowsArgs& args);
// stream: a cudaStream_t; the null pointer is the default stream.
LaunchStatus cuda_merge_rows(const CudaMergeRowsArgs& args, void* stream);

}  // namespace winnow::kernels
