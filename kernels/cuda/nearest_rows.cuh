// The device code of nearest rows; launched by nearest_rows.cu, run on CPU threads in tests (tests/kernels/cuda_on_cpu.h).
//
// measure_rows: a warp per row finds its length. compare_rows, where the tensor cores do not compare (nearest_rows_matrix.cuh): one thread
// block per (tile of 64 asking rows, part of those that they are compared with). It walks the part 64 rows at a time: a product of 64 x 64
// in registers, 8 x 4 a thread, whose operands go through shared memory 32 elements at a time; a thread keeps the nearest of its own
// columns, ascending, and what 16 threads found is compared at the end. join_nearest: the nearest of all parts. Nothing of the matrix is
// written; sums are always in the same order.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/api/cuda_nearest_rows.h"
#include "kernels/cuda/element.cuh"
#include "kernels/cuda/warp.cuh"

namespace winnow::kernels::cuda {

constexpr int kNearTile = static_cast<int>(kNearestTile);  // asking rows, and rows that they are compared with, at a time
constexpr int kNearThreads = 128;
constexpr int kNearDepth = 32;                          // elements of a row that lie in shared memory at a time
constexpr int kNearPitch = kNearTile + 4;               // floats between them: pieces that are written together meet fewer banks
constexpr int kNearRows = 8;                            // of a thread
constexpr int kNearColumns = 4;                         // of a thread
constexpr int kNearSharing = kNearTile / kNearColumns;  // threads that share their rows
static_assert(kNearThreads == kNearSharing * (kNearTile / kNearRows));

struct NearestLaunch {
  CudaNearestRowsArgs args;
  int asking;
  int among;
  int parts;
  int part_rows;          // a multiple of kNearTile
  float* inverses;        // [arrays, asking + among], one over a length that is at least kLeastLength
  float* part_most;       // [parts, asking]
  std::int32_t* part_at;  // likewise
};

// args have been checked, and there are asking rows.
inline NearestLaunch plan_launch(const CudaNearestRowsArgs& args) {
  NearestLaunch launch = {};
  launch.args = args;
  launch.asking = static_cast<int>(args.asking_count);
  launch.among = static_cast<int>(args.among_count);
  const std::int64_t share = (args.among_count + args.parts - 1) / args.parts;
  launch.part_rows = static_cast<int>((share + kNearTile - 1) / kNearTile * kNearTile);
  launch.parts = (launch.among - 1) / launch.part_rows + 1;
  launch.inverses = args.workspace;
  launch.part_most = args.workspace + (args.second != nullptr ? 2 : 1) * (args.asking_count + args.among_count);
  launch.part_at = reinterpret_cast<std::int32_t*>(launch.part_most + launch.parts * args.asking_count);
  return launch;
}

// True if 16 bytes can be read at once: every row begins at a multiple of them.
template <class T>
bool reads_vectors(const CudaNearestRowsArgs& args) {
  return args.width % kWidest<T> == 0 && args.first_stride % kWidest<T> == 0 && is_aligned(args.first) &&
         (args.second == nullptr || (args.second_stride % kWidest<T> == 0 && is_aligned(args.second)));
}

// Element 0 of a row of one of the two arrays.
template <class T>
__device__ inline const T* near_row(const CudaNearestRowsArgs& args, int array, std::int64_t number) {
  return array == 0 ? static_cast<const T*>(args.first) + number * args.first_stride
                    : static_cast<const T*>(args.second) + number * args.second_stride;
}

// Grid: rows of `asking` and `among`, four a thread block; blockIdx.y: the array.
template <class T>
__global__ void __launch_bounds__(kNearThreads) measure_rows(NearestLaunch launch) {
  const int row = static_cast<int>(blockIdx.x) * (kNearThreads / 32) + static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int count = launch.asking + launch.among;
  const int known = min(row, count - 1);  // threads past the end repeat the last row
  const CudaNearestRowsArgs& args = launch.args;
  const std::int64_t number = known < launch.asking ? args.asking[known] : args.among[known - launch.asking];
  const T* const from = near_row<T>(args, static_cast<int>(blockIdx.y), number);
  float sum = 0.0F;
  for (std::int64_t i = lane; i < args.width; i += 32) sum = fmaf(upcast(from[i]), upcast(from[i]), sum);
  sum = sqrtf(warp_sum(sum));
  const float length = sum < kLeastLength ? kLeastLength : sum;  // NaN stays
  if (lane == 0 && row < count) launch.inverses[static_cast<std::int64_t>(blockIdx.y) * count + row] = 1.0F / length;
}

// Elements [0, depth) of rows numbers[0, count), zeros where there are none.
template <class T, int kVector>
__device__ inline void take_numbered(const T* from, std::int64_t stride, const std::int32_t* numbers, int count, int depth, float* tile) {
  constexpr int kPieces = kNearDepth / kVector;
#pragma unroll
  for (int i = static_cast<int>(threadIdx.x); i < kNearTile * kPieces; i += kNearThreads) {
    const int row = i / kPieces;
    const int k = i % kPieces * kVector;
    Pack<T, kVector> piece = {};
    if (row < count && k < depth) piece = load<kVector>(from + numbers[row] * stride + k);
#pragma unroll
    for (int v = 0; v < kVector; ++v) tile[(k + v) * kNearPitch + row] = upcast(piece.values[v]);
  }
}

struct NearTiles {
  float* asking;
  float* among;
};

// The rows that a thread block compares at a time.
struct NearRows {
  const std::int32_t* asking;
  const std::int32_t* among;
  int asking_count;
  int among_count;
};

// The thread's products of one array, from its row and column of the tiles on.
template <class T, int kVector>
__device__ inline void multiply_rows(const T* array, std::int64_t stride, std::int64_t width, const NearRows& rows, const NearTiles& tiles,
                                     float (&products)[kNearRows][kNearColumns]) {
  const int thread = static_cast<int>(threadIdx.x);
  const int column = thread % kNearSharing * kNearColumns;
  const int row = thread / kNearSharing * kNearRows;
  for (std::int64_t first = 0; first < width; first += kNearDepth) {
    const int depth = static_cast<int>(min(static_cast<std::int64_t>(kNearDepth), width - first));
    __syncthreads();
    take_numbered<T, kVector>(array + first, stride, rows.asking, rows.asking_count, depth, tiles.asking);
    take_numbered<T, kVector>(array + first, stride, rows.among, rows.among_count, depth, tiles.among);
    __syncthreads();
#pragma unroll 4
    for (int k = 0; k < depth; ++k) {
      const Pack<float, 4> right = load<4>(tiles.among + k * kNearPitch + column);
      const Pack<float, 4> upper = load<4>(tiles.asking + k * kNearPitch + row);
      const Pack<float, 4> lower = load<4>(tiles.asking + k * kNearPitch + row + 4);
#pragma unroll
      for (int c = 0; c < kNearColumns; ++c) {
#pragma unroll
        for (int r = 0; r < 4; ++r) {
          products[r][c] = fmaf(upper.values[r], right.values[c], products[r][c]);
          products[r + 4][c] = fmaf(lower.values[r], right.values[c], products[r + 4][c]);
        }
      }
    }
  }
}

// True if one result is nearer than another: larger, or NaN; the smaller index wins a tie.
__device__ inline bool is_nearer(float similarity, int index, float than, int than_index) {
  const bool damaged = similarity != similarity;
  const bool than_damaged = than != than;
  if (damaged != than_damaged) return damaged;
  return damaged || similarity == than ? index < than_index : similarity > than;
}

template <class T, int kVector>
__global__ void __launch_bounds__(kNearThreads, 3) compare_rows(NearestLaunch launch) {
  alignas(16) __shared__ float asking_tile[kNearDepth * kNearPitch];
  alignas(16) __shared__ float among_tile[kNearDepth * kNearPitch];
  const CudaNearestRowsArgs& args = launch.args;
  const int thread = static_cast<int>(threadIdx.x);
  const int column = thread % kNearSharing * kNearColumns;  // this thread's first, of the tile
  const int row = thread / kNearSharing * kNearRows;        // likewise
  const int first_asking = static_cast<int>(blockIdx.x) * kNearTile;
  const std::int64_t part = blockIdx.y;
  const int begin = static_cast<int>(part * launch.part_rows);
  const int end = static_cast<int>(min(static_cast<std::int64_t>(launch.among), (part + 1) * launch.part_rows));
  const int count = launch.asking + launch.among;
  const NearTiles tiles{asking_tile, among_tile};

  float most[kNearRows];
  int at[kNearRows];
#pragma unroll
  for (int r = 0; r < kNearRows; ++r) {
    most[r] = minus_infinity();
    at[r] = 0x7FFFFFFF;
  }
  for (int tile = begin; tile < end; tile += kNearTile) {
    const NearRows rows{args.asking + first_asking, args.among + tile, min(kNearTile, launch.asking - first_asking),
                        min(kNearTile, end - tile)};
    float similarity[kNearRows][kNearColumns];
    for (int array = 0; array < (args.second != nullptr ? 2 : 1); ++array) {
      float products[kNearRows][kNearColumns] = {};
      multiply_rows<T, kVector>(near_row<T>(args, array, 0), array == 0 ? args.first_stride : args.second_stride, args.width, rows, tiles,
                                products);
      const float* const inverse = launch.inverses + static_cast<std::int64_t>(array) * count;
#pragma unroll
      for (int c = 0; c < kNearColumns; ++c) {
        const float other = inverse[launch.asking + min(tile + column + c, launch.among - 1)];
#pragma unroll
        for (int r = 0; r < kNearRows; ++r) {
          const float cosine = products[r][c] * inverse[min(first_asking + row + r, launch.asking - 1)] * other;
          similarity[r][c] = array == 0 ? cosine : similarity[r][c] * cosine;
        }
      }
    }
#pragma unroll
    for (int c = 0; c < kNearColumns; ++c) {
      if (column + c >= rows.among_count) break;
#pragma unroll
      for (int r = 0; r < kNearRows; ++r) {
        if (!is_nearer(similarity[r][c], tile + column + c, most[r], at[r])) continue;
        most[r] = similarity[r][c];
        at[r] = tile + column + c;
      }
    }
  }

  // [row of the tile][threads that share it]; what lay there has been read.
  float* const found = asking_tile;
  int* const places = reinterpret_cast<int*>(among_tile);
  __syncthreads();
#pragma unroll
  for (int r = 0; r < kNearRows; ++r) {
    found[(row + r) * kNearSharing + thread % kNearSharing] = most[r];
    places[(row + r) * kNearSharing + thread % kNearSharing] = at[r];
  }
  __syncthreads();
  if (thread >= kNearTile || first_asking + thread >= launch.asking) return;
  int best = thread * kNearSharing;
  for (int i = best + 1; i < (thread + 1) * kNearSharing; ++i) {
    if (is_nearer(found[i], places[i], found[best], places[best])) best = i;
  }
  launch.part_most[part * launch.asking + first_asking + thread] = found[best];
  launch.part_at[part * launch.asking + first_asking + thread] = places[best];
}

// A thread per asking row.
static __global__ void __launch_bounds__(kNearThreads) join_nearest(NearestLaunch launch) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kNearThreads + threadIdx.x;
  if (row >= launch.asking) return;
  float most = launch.part_most[row];
  int at = launch.part_at[row];
  for (std::int64_t part = 1; part < launch.parts; ++part) {
    const float similarity = launch.part_most[part * launch.asking + row];
    const int index = launch.part_at[part * launch.asking + row];
    if (!is_nearer(similarity, index, most, at)) continue;
    most = similarity;
    at = index;
  }
  launch.args.similarity[row] = most;
  launch.args.nearest[row] = at;
}

}  // namespace winnow::kernels::cuda
