// Column sums of all kv heads of a layer on an NVIDIA GPU: kernels/api/column_sums.h for every kv head at once.
//
// Used by engine/compression (through engine/cuda_plugin); implemented in kernels/cuda/column_sums.cu. The reference is
// column_sums_reference, head by head. Products are exact and summed in fp32, by the tensor cores where Q and K have 16 bits, rows begin at
// multiples of 16 bytes and heads have at most 256 elements; nothing of the matrix is stored.
// Long columns are split into parts of their rows, whose sums are added in the order of the rows: the same inputs give the same bits.
// Pointers are device memory. Never throws, never allocates, does not wait for the device; two launches. kBadArgument: a missing pointer, a
// workspace that is not aligned to 8 bytes, a size below its least, more parts than kMaxCudaGridSide, an unknown element type.
// kUnsupported: more than the limits in cuda_logits.h and element_type.h. kDeviceError: the launch failed. Damage stays visible, as in
// column_sums.h.
#pragma once

#include <cstdint>

#include "kernels/api/cuda_logits.h"

namespace winnow::kernels {

inline constexpr std::int64_t kCudaSumStrip = 32;  // columns of an entropy in the workspace, at the least

struct CudaColumnSumsArgs : CudaLogits {
  // Row r sees the first seen_by_first + r columns: causal. At least `columns`: every row sees all. May be negative.
  std::int64_t seen_by_first = 0;
  const float* log_sum_exp = nullptr;  // of the scaled logits, natural log: query head h, row r at [h * log_sum_exp_stride + r]
  std::int64_t log_sum_exp_stride = 0;
  float* sums = nullptr;  // of query head h and column j: [h * sums_stride + j]; added to
  std::int64_t sums_stride = 0;
  // Sum over rows of the squared mean over the group, of kv head k and column j: [k * squares_stride + j]; added to; may be null.
  float* squares = nullptr;
  std::int64_t squares_stride = 0;
  double* entropy = nullptr;  // [kv_heads * group]: -sum p ln p over all rows and these columns; added to; may be null
  std::int64_t parts = 1;     // that the rows are split into, at most: cuda_column_sums_parts()
  void* workspace = nullptr;  // cuda_column_sums_workspace() bytes
};

// Enough parts for 32 thread blocks of a tile's width on every multiprocessor, none shorter than a tile: a causal matrix gives the first
// columns' thread blocks all of a part's rows and the last columns' few, so that a device that holds three or four of them is busy to the
// end only when there are several times as many.
inline std::int64_t cuda_column_sums_parts(std::int64_t rows, std::int64_t columns, std::int64_t kv_heads, std::int64_t multiprocessors) {
  return cuda_logit_parts(rows, columns, kv_heads, multiprocessors, 32);
}

// Bytes: what every part gives. Reads sizes, parts, and whether squares and entropy are wanted.
inline std::int64_t cuda_column_sums_workspace(const CudaColumnSumsArgs& args) {
  const std::int64_t heads = args.kv_heads * args.group;
  const std::int64_t strips = (args.columns + kCudaSumStrip - 1) / kCudaSumStrip;
  const std::int64_t floats = (heads + (args.squares != nullptr ? args.kv_heads : 0)) * args.columns;
  const std::int64_t doubles = args.entropy != nullptr ? heads * strips : 0;
  return args.parts * (8 * doubles + 4 * floats);
}

// All pointers host memory; nothing is read or written in the workspace.
LaunchStatus cuda_column_sums_reference(const CudaColumnSumsArgs& args);
// stream: a cudaStream_t; the null pointer is the default stream.
LaunchStatus cuda_column_sums(const CudaColumnSumsArgs& args, void* stream);

}  // namespace winnow::kernels
