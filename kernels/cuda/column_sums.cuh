// The device code of column sums; launched by column_sums.cu, run on CPU threads in tests (tests/kernels/cuda_on_cpu.h).
//
// sum_columns: one thread block per (tile of 64 columns, kv head, part of the rows). It walks the part's rows that see the tile, 64 at a
// time, all query heads of the group for each: a product of 64 x 64 in registers, 8 rows x 4 columns a thread, whose operands go through
// shared memory 32 elements at a time; then exponentials, and their sums down the columns are added to the part's own, in memory that no
// other thread touches. Squares need all heads of a row tile, which is why the heads are walked inside.
// add_parts: adds the parts, in their order. Sums are always in the same order: the same inputs give the same bits.
#pragma once

#include <algorithm>

#include "kernels/api/cuda_column_sums.h"
#include "kernels/cuda/element.cuh"
#include "kernels/cuda/warp.cuh"

namespace winnow::kernels::cuda {

constexpr int kSumTile = static_cast<int>(kCudaSumTile);
constexpr int kSumThreads = 128;
constexpr int kSumWarps = kSumThreads / 32;
constexpr int kSumDepth = 32;                         // elements of a head that lie in shared memory at a time
constexpr int kSumRows = 8;                           // of a thread
constexpr int kSumColumns = 4;                        // of a thread
constexpr int kSumRowGroup = kSumTile / kSumColumns;  // threads that share their rows
static_assert(kSumThreads == kSumRowGroup * (kSumTile / kSumRows));
constexpr int kPartThreads = 256;

struct ColumnSumsLaunch {
  const void* query;
  std::int64_t query_head_stride;
  std::int64_t query_row_stride;
  const void* key;
  std::int64_t key_head_stride;
  std::int64_t key_row_stride;
  const float* log_sum_exp;
  std::int64_t log_sum_exp_stride;
  float scale;
  int kv_heads;
  int group;
  int rows;
  int columns;
  int head_dim;
  int seen_by_first;  // within [-rows, columns]
  int tiles;          // of columns
  int parts;
  int part_rows;         // a multiple of kSumTile
  double* part_entropy;  // [heads, parts, tiles], or null
  float* part_sums;      // [parts, heads, columns]
  float* part_squares;   // [parts, kv_heads, columns], or null
  float* sums;
  std::int64_t sums_stride;
  float* squares;
  std::int64_t squares_stride;
  double* entropy;
};

// args have been checked, and there are rows and columns. tile: columns of an entropy.
inline ColumnSumsLaunch plan_launch(const CudaColumnSumsArgs& args, int tile = kSumTile) {
  ColumnSumsLaunch launch = {};
  launch.query = args.query;
  launch.query_head_stride = args.query_head_stride;
  launch.query_row_stride = args.query_row_stride;
  launch.key = args.key;
  launch.key_head_stride = args.key_head_stride;
  launch.key_row_stride = args.key_row_stride;
  launch.log_sum_exp = args.log_sum_exp;
  launch.log_sum_exp_stride = args.log_sum_exp_stride;
  launch.scale = args.scale;
  launch.kv_heads = static_cast<int>(args.kv_heads);
  launch.group = static_cast<int>(args.group);
  launch.rows = static_cast<int>(args.rows);
  launch.columns = static_cast<int>(args.columns);
  launch.head_dim = static_cast<int>(args.head_dim);
  launch.seen_by_first = static_cast<int>(std::clamp(args.seen_by_first, -args.rows, args.columns));
  launch.tiles = (launch.columns + tile - 1) / tile;
  const std::int64_t share = (args.rows + args.parts - 1) / args.parts;
  launch.part_rows = static_cast<int>((share + kSumTile - 1) / kSumTile * kSumTile);
  launch.parts = (launch.rows + launch.part_rows - 1) / launch.part_rows;
  const std::int64_t heads = args.kv_heads * args.group;
  auto* const entropies = static_cast<double*>(args.workspace);
  launch.part_entropy = args.entropy != nullptr ? entropies : nullptr;
  launch.part_sums = reinterpret_cast<float*>(entropies + (args.entropy != nullptr ? heads * launch.parts * launch.tiles : 0));
  launch.part_squares = args.squares != nullptr ? launch.part_sums + launch.parts * heads * args.columns : nullptr;
  launch.sums = args.sums;
  launch.sums_stride = args.sums_stride;
  launch.squares = args.squares;
  launch.squares_stride = args.squares_stride;
  launch.entropy = args.entropy;
  return launch;
}

// What add_parts adds up: the sums of every query head, behind them the squares of every kv head.
inline unsigned part_results(const ColumnSumsLaunch& launch) {
  return static_cast<unsigned>(launch.kv_heads * launch.group + (launch.squares != nullptr ? launch.kv_heads : 0));
}

// Whether kWidest neighbours can be read at once: every row begins at a multiple of 16 bytes.
template <class T>
bool reads_vectors(const CudaColumnSumsArgs& args) {
  return args.head_dim % kWidest<T> == 0 && args.query_head_stride % kWidest<T> == 0 && args.query_row_stride % kWidest<T> == 0 &&
         args.key_head_stride % kWidest<T> == 0 && args.key_row_stride % kWidest<T> == 0 && is_aligned(args.query) && is_aligned(args.key);
}

// Where element k of row `row` lies in a tile. Neighbouring threads write rows and pieces of rows that differ; with the row's place moved
// by the piece they meet different banks, and four rows from a multiple of four on stay side by side. Within a piece an element lies
// kSumTile behind the one before it.
template <int kVector>
inline constexpr int kSumPiece = kVector < 4 ? 4 : kVector;
template <int kVector>
__device__ inline int tile_place(int k, int row) {
  return k * kSumTile + (row ^ (k / kSumPiece<kVector> * kSumPiece<kVector>));
}

// Elements [0, depth) of `count` rows, widened; zeros where there are none.
template <class T, int kVector>
__device__ inline void take_rows(const T* from, std::int64_t stride, int count, int depth, float* tile) {
  constexpr int kPieces = kSumDepth / kVector;
#pragma unroll
  for (int i = static_cast<int>(threadIdx.x); i < kSumTile * kPieces; i += kSumThreads) {
    const int row = i / kPieces;
    const int k = i % kPieces * kVector;
    const bool is_there = row < count && k < depth;
    Pack<T, kVector> piece = {};
    if (is_there) piece = load<kVector>(from + row * stride + k);
#pragma unroll
    for (int v = 0; v < kVector; ++v) tile[tile_place<kVector>(k + v, row)] = widen(piece.values[v]);
  }
}

// What a tile's columns got, from all rows of the thread block, added to `to`, which has `count` columns.
__device__ inline void add_down(const float (&sums)[kSumColumns], float* warp_sums, float* to, int count) {
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % 32;
#pragma unroll
  for (int c = 0; c < kSumColumns; ++c) {
    const float both = sums[c] + __shfl_xor_sync(0xFFFFFFFFU, sums[c], kSumRowGroup);  // the warp's two groups of rows
    if (lane < kSumRowGroup) warp_sums[thread / 32 * kSumTile + lane * kSumColumns + c] = both;
  }
  __syncthreads();
  if (thread < count) {
    float sum = 0.0F;
#pragma unroll
    for (int warp = 0; warp < kSumWarps; ++warp) sum += warp_sums[warp * kSumTile + thread];
    to[thread] += sum;
  }
  __syncthreads();  // the next sums overwrite these
}

// kVector: elements of Q and K per load; 1 where rows are not aligned.
template <class T, int kVector>
__global__ void __launch_bounds__(kSumThreads, 4) sum_columns(ColumnSumsLaunch args) {
  alignas(16) __shared__ float queries[kSumDepth * kSumTile];
  alignas(16) __shared__ float keys[kSumDepth * kSumTile];
  __shared__ float warp_sums[kSumWarps * kSumTile];
  __shared__ float warp_entropies[kSumWarps];

  const int thread = static_cast<int>(threadIdx.x);
  const int tile = static_cast<int>(blockIdx.x);
  const int kv_head = static_cast<int>(blockIdx.y);
  const int part = static_cast<int>(blockIdx.z);
  const int first_column = tile * kSumTile;
  const int columns = min(kSumTile, args.columns - first_column);
  const int column = thread % kSumRowGroup * kSumColumns;  // this thread's first, of the tile
  const int row = thread / kSumRowGroup * kSumRows;        // likewise
  const std::int64_t first_head = static_cast<std::int64_t>(kv_head) * args.group;
  const std::int64_t heads = static_cast<std::int64_t>(args.kv_heads) * args.group;

  float* const sums = args.part_sums + (part * heads + first_head) * args.columns + first_column;
  float* const squares =
      args.part_squares == nullptr
          ? nullptr
          : args.part_squares + (static_cast<std::int64_t>(part) * args.kv_heads + kv_head) * args.columns + first_column;
  double* const entropies =
      args.part_entropy == nullptr ? nullptr : args.part_entropy + (first_head * args.parts + part) * args.tiles + tile;
  const std::int64_t entropy_stride = static_cast<std::int64_t>(args.parts) * args.tiles;
  if (thread < columns) {
    for (int head = 0; head < args.group; ++head) sums[static_cast<std::int64_t>(head) * args.columns + thread] = 0.0F;
    if (squares != nullptr) squares[thread] = 0.0F;
  }
  if (thread == 0 && entropies != nullptr) {
    for (int head = 0; head < args.group; ++head) entropies[head * entropy_stride] = 0.0;
  }

  // The first row that sees the tile, and the part's end.
  const int begin = max(part * args.part_rows, first_column - args.seen_by_first + 1);
  const int end = min(args.rows, args.part_rows * (part + 1));
  const T* const key = static_cast<const T*>(args.key) + kv_head * args.key_head_stride + first_column * args.key_row_stride;
  for (int first_row = begin; first_row < end; first_row += kSumTile) {
    float means[kSumRows][kSumColumns] = {};
    for (int head = 0; head < args.group; ++head) {
      const T* const query =
          static_cast<const T*>(args.query) + (first_head + head) * args.query_head_stride + first_row * args.query_row_stride;
      float products[kSumRows][kSumColumns] = {};
      for (int first = 0; first < args.head_dim; first += kSumDepth) {
        const int depth = min(kSumDepth, args.head_dim - first);
        __syncthreads();
        take_rows<T, kVector>(query + first, args.query_row_stride, end - first_row, depth, queries);
        take_rows<T, kVector>(key + first, args.key_row_stride, columns, depth, keys);
        __syncthreads();
        for (int k = 0; k < depth; k += kSumPiece<kVector>) {
          const float* const right_piece = keys + tile_place<kVector>(k, column);
          const float* const upper_piece = queries + tile_place<kVector>(k, row);
          const float* const lower_piece = queries + tile_place<kVector>(k, row + 4);
#pragma unroll
          for (int step = 0; step < kSumPiece<kVector>; ++step) {
            const Pack<float, 4> right = load<4>(right_piece + step * kSumTile);
            const Pack<float, 4> upper = load<4>(upper_piece + step * kSumTile);
            const Pack<float, 4> lower = load<4>(lower_piece + step * kSumTile);
#pragma unroll
            for (int c = 0; c < kSumColumns; ++c) {
#pragma unroll
              for (int r = 0; r < 4; ++r) {
                products[r][c] = fmaf(upper.values[r], right.values[c], products[r][c]);
                products[r + 4][c] = fmaf(lower.values[r], right.values[c], products[r + 4][c]);
              }
            }
          }
        }
      }

      const float* const log_sum_exp = args.log_sum_exp + (first_head + head) * args.log_sum_exp_stride;
      float received[kSumColumns] = {};
      float entropy = 0.0F;
#pragma unroll
      for (int r = 0; r < kSumRows; ++r) {
        const int own = first_row + row + r;
        const float whole = own < end ? log_sum_exp[own] : 0.0F;
        const int seen = own < end ? min(columns, args.seen_by_first + own - first_column) : 0;
#pragma unroll
        for (int c = 0; c < kSumColumns; ++c) {
          const float log_probability = fmaf(products[r][c], args.scale, -whole);
          const float probability = column + c < seen ? expf(log_probability) : 0.0F;
          received[c] += probability;
          means[r][c] += probability;
          if (probability != 0.0F) entropy = fmaf(-probability, log_probability, entropy);
        }
      }
      if (entropies != nullptr) {
        const float of_warp = warp_sum(entropy);
        if (thread % 32 == 0) warp_entropies[thread / 32] = of_warp;
      }
      add_down(received, warp_sums, sums + static_cast<std::int64_t>(head) * args.columns, columns);
      if (entropies != nullptr && thread == 0) {
        double sum = 0.0;
#pragma unroll
        for (int warp = 0; warp < kSumWarps; ++warp) sum += static_cast<double>(warp_entropies[warp]);
        entropies[head * entropy_stride] += sum;
      }
    }
    if (squares == nullptr) continue;
    const float share = 1.0F / static_cast<float>(args.group);
    float squared[kSumColumns] = {};
#pragma unroll
    for (int r = 0; r < kSumRows; ++r) {
#pragma unroll
      for (int c = 0; c < kSumColumns; ++c) squared[c] = fmaf(means[r][c] * share, means[r][c] * share, squared[c]);
    }
    add_down(squared, warp_sums, squares, columns);
  }
}

// A thread per column; blockIdx.y: one of part_results().
static __global__ void __launch_bounds__(kPartThreads) add_parts(ColumnSumsLaunch args) {
  __shared__ double entropies[kPartThreads];
  const int thread = static_cast<int>(threadIdx.x);
  const int column = static_cast<int>(blockIdx.x) * kPartThreads + thread;
  const int heads = args.kv_heads * args.group;
  const bool of_squares = static_cast<int>(blockIdx.y) >= heads;
  const int head = static_cast<int>(blockIdx.y) - (of_squares ? heads : 0);
  if (column < args.columns) {
    const std::int64_t part_stride = static_cast<std::int64_t>(of_squares ? args.kv_heads : heads) * args.columns;
    const float* const from = (of_squares ? args.part_squares : args.part_sums) + static_cast<std::int64_t>(head) * args.columns + column;
    float sum = 0.0F;
    for (int part = 0; part < args.parts; ++part) sum += from[part * part_stride];
    float& to = of_squares ? args.squares[head * args.squares_stride + column] : args.sums[head * args.sums_stride + column];
    to += sum;
  }
  if (of_squares || args.entropy == nullptr || blockIdx.x > 0) return;
  const std::int64_t count = static_cast<std::int64_t>(args.parts) * args.tiles;
  double own = 0.0;
  for (std::int64_t i = thread; i < count; i += kPartThreads) own += args.part_entropy[head * count + i];
  entropies[thread] = own;
  __syncthreads();
  for (int half = kPartThreads / 2; half > 0; half /= 2) {
    if (thread < half) entropies[thread] += entropies[thread + half];
    __syncthreads();
  }
  if (thread == 0) args.entropy[head] += entropies[0];
}

}  // namespace winnow::kernels::cuda
