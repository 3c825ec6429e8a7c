// Nearest row by cosine for every query row, on an NVIDIA GPU, without storing the similarity matrix.
//
// Used by engine/compression (through engine/cuda_plugin); implemented in kernels/cuda/nearest_rows.cu. Similarity: the cosine, dot /
// (max(|a|, 1e-12) max(|b|, 1e-12)), or the product of the cosines in two arrays. The smaller index wins a tie; NaN counts as largest, so
// it shows. Rows may have any element type; sums are fp32 and always in the same order: the same inputs give the same bits. Pointers are
// device memory. Never throws, never allocates, does not wait for the device; three launches. kBadArgument: a missing pointer, a size below
// its minimum, more parts than kMaxNearestParts. kUnsupported: more than the limits here. kDeviceError: the launch failed.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/api/element_type.h"

namespace winnow::kernels {

inline constexpr std::int64_t kNearestTile = 64;  // parts are multiples of it
inline constexpr std::int64_t kMaxNearestParts = 65535;
inline constexpr std::int64_t kMaxNearestRows = 1'000'000'000;
inline constexpr float kLeastLength = 1e-12F;

struct CudaNearestRowsArgs {
  ElementType type = ElementType::kFp32;  // of the elements of both arrays
  const void* first = nullptr;            // element i of row r at [r * first_stride + i]
  std::int64_t first_stride = 0;          // in elements
  const void* second = nullptr;           // likewise; null: one cosine only
  std::int64_t second_stride = 0;
  std::int64_t width = 0;                // elements of a row
  const std::int32_t* asking = nullptr;  // [asking_count] rows
  std::int64_t asking_count = 0;
  const std::int32_t* among = nullptr;  // [among_count] rows
  std::int64_t among_count = 0;         // >= 1
  float* similarity = nullptr;          // [asking_count]
  std::int32_t* nearest = nullptr;      // [asking_count], indices into `among`
  std::int64_t parts = 1;               // most parts that `among` is split into: cuda_nearest_rows_parts()
  float* workspace = nullptr;           // cuda_nearest_rows_workspace() floats
};

// Enough parts for many thread blocks on every multiprocessor, so that the last one to end hardly matters; none shorter than a tile.
inline std::int64_t cuda_nearest_rows_parts(std::int64_t asking, std::int64_t among, std::int64_t multiprocessors) {
  const std::int64_t blocks_per_part = std::max<std::int64_t>(1, (asking + kNearestTile - 1) / kNearestTile);
  const std::int64_t wanted = (32 * multiprocessors + blocks_per_part - 1) / blocks_per_part;
  return std::clamp<std::int64_t>((among + kNearestTile - 1) / kNearestTile, 1, std::clamp<std::int64_t>(wanted, 1, kMaxNearestParts));
}

// Floats: the reciprocal length of every row, and the nearest row of every part.
inline std::int64_t cuda_nearest_rows_workspace(const CudaNearestRowsArgs& args) {
  return (args.second != nullptr ? 2 : 1) * (args.asking_count + args.among_count) + 2 * args.parts * args.asking_count;
}

// All pointers host memory; the workspace is not used.
LaunchStatus cuda_nearest_rows_reference(const CudaNearestRowsArgs& args);
// stream: a cudaStream_t; the null pointer is the default stream.
LaunchStatus cuda_nearest_rows(const CudaNearestRowsArgs& args, void* stream);

}  // namespace winnow::kernels
