// Column sums for all KV heads of a layer on an NVIDIA GPU: kernels/api/column_sums.h for every KV head at once.
//
// Used by engine/compression (through engine/cuda_plugin); implemented in kernels/cuda/column_sums.cu. The reference is
// column_sums_reference, head by head. Products are exact and summed in fp32, and the matrix is never stored. Tensor cores are used if Q
// and K have 16 bits, rows begin at multiples of 16 bytes and heads have at most 256 elements.
// Long columns are split into parts of their rows, whose sums are added in row order: the same inputs give the same bits. Pointers are
// device memory. Never throws, never allocates, does not wait for the device; two launches. kBadArgument: a missing pointer, a workspace
// that is not aligned to 8 bytes, a size below its minimum, more parts than kMaxCudaGridSide, an unknown element type. kUnsupported: more
// than the limits in cuda_logits.h and element_type.h. kDeviceError: the launch failed. NaN propagates as in column_sums.h.
#pragma once

#include <cstdint>

#include "kernels/api/cuda_logits.h"

namespace winnow::kernels {

inline constexpr std::int64_t kCudaSumStrip = 32;  // least columns per entropy in the workspace

struct CudaColumnSumsArgs : CudaLogits {
  // Causal: row r sees the first seen_by_first + r columns. Every row sees all if this is at least `columns`. May be negative.
  std::int64_t seen_by_first = 0;
  const float* log_sum_exp = nullptr;  // of the scaled logits, natural log; query head h, row r at [h * log_sum_exp_stride + r]
  std::int64_t log_sum_exp_stride = 0;
  float* sums = nullptr;  // query head h, column j at [h * sums_stride + j]; added to
  std::int64_t sums_stride = 0;
  // Sum over rows of the squared mean over the group, of KV head k and column j: [k * squares_stride + j]; added to; may be null.
  float* squares = nullptr;
  std::int64_t squares_stride = 0;
  double* entropy = nullptr;  // [kv_heads * group]: -sum p ln p over all rows and these columns; added to; may be null
  std::int64_t parts = 1;     // most parts that the rows are split into: cuda_column_sums_parts()
  void* workspace = nullptr;  // cuda_column_sums_workspace() bytes
};

// Enough parts for 32 thread blocks of a tile's width on every multiprocessor, none shorter than a tile. In a causal matrix the first
// columns have many rows and the last ones few; a multiprocessor runs three or four thread blocks at once and stays busy to the end only
// with several times as many.
inline std::int64_t cuda_column_sums_parts(std::int64_t rows, std::int64_t columns, std::int64_t kv_heads, std::int64_t multiprocessors) {
  return cuda_logit_parts(rows, columns, kv_heads, multiprocessors, 32);
}

// Bytes for the results of every part. Reads sizes, parts, and whether squares and entropy are set.
inline std::int64_t cuda_column_sums_workspace(const CudaColumnSumsArgs& args) {
  const std::int64_t heads = args.kv_heads * args.group;
  const std::int64_t strips = (args.columns + kCudaSumStrip - 1) / kCudaSumStrip;
  const std::int64_t floats = (heads + (args.squares != nullptr ? args.kv_heads : 0)) * args.columns;
  const std::int64_t doubles = args.entropy != nullptr ? heads * strips : 0;
  return args.parts * (8 * doubles + 4 * floats);
}

// All pointers host memory; the workspace is not used.
LaunchStatus cuda_column_sums_reference(const CudaColumnSumsArgs& args);
// stream: a cudaStream_t; the null pointer is the default stream.
LaunchStatus cuda_column_sums(const CudaColumnSumsArgs& args, void* stream);

}  // namespace winnow::kernels
