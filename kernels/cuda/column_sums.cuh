// The device code of column sums; launched by column_sums.cu, run on CPU threads in tests (tests/kernels/cuda_on_cpu.h).
//
// sum_columns: one thread block per (tile of 64 columns, KV head, part of the rows). It walks the part's rows that see the tile, 64 at a
// time, all query heads of the group for each: a tile of products (logit_tile.cuh), then exponentials, and their sums down the columns are
// added to the part's own, in memory that no other thread touches. Squares need all heads of a row tile, which is why the heads are walked
// inside.
// add_parts: adds the parts, in their order. Sums are always in the same order: the same inputs give the same bits.
#pragma once

#include <algorithm>

#include "kernels/api/cuda_column_sums.h"
#include "kernels/cuda/logit_tile.cuh"
#include "kernels/cuda/warp.cuh"

namespace winnow::kernels::cuda {

constexpr int kPartThreads = 256;

struct ColumnSumsLaunch : LogitsLaunch {
  const float* log_sum_exp;
  std::int64_t log_sum_exp_stride;
  int seen_by_first;  // within [-rows, columns]
  int tiles;          // of columns
  int parts;
  int part_rows;         // a multiple of kLogitTile
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
inline ColumnSumsLaunch plan_launch(const CudaColumnSumsArgs& args, int tile = kLogitTile) {
  ColumnSumsLaunch launch = {};
  static_cast<LogitsLaunch&>(launch) = plan_logits(args);
  launch.log_sum_exp = args.log_sum_exp;
  launch.log_sum_exp_stride = args.log_sum_exp_stride;
  launch.seen_by_first = static_cast<int>(std::clamp(args.seen_by_first, -args.rows, args.columns));
  launch.tiles = (launch.columns + tile - 1) / tile;
  launch.part_rows = part_length(args.rows, args.parts);
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

// The results that add_parts adds up: the sums of every query head, behind them the squares of every KV head.
inline unsigned part_results(const ColumnSumsLaunch& launch) {
  return static_cast<unsigned>(launch.kv_heads * launch.group + (launch.squares != nullptr ? launch.kv_heads : 0));
}

// Adds the tile's column sums over all rows of the thread block to `to`, which has `count` columns.
__device__ inline void add_down(const float (&sums)[kLogitColumns], float* warp_sums, float* to, int count) {
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % 32;
#pragma unroll
  for (int c = 0; c < kLogitColumns; ++c) {
    const float both = sums[c] + __shfl_xor_sync(0xFFFFFFFFU, sums[c], kLogitRowGroup);  // the warp's two groups of rows
    if (lane < kLogitRowGroup) warp_sums[thread / 32 * kLogitTile + lane * kLogitColumns + c] = both;
  }
  __syncthreads();
  if (thread < count) {
    float sum = 0.0F;
#pragma unroll
    for (int warp = 0; warp < kLogitWarps; ++warp) sum += warp_sums[warp * kLogitTile + thread];
    to[thread] += sum;
  }
  __syncthreads();  // the next sums overwrite these
}

// kVector: elements of Q and K per load; 1 if rows are not aligned.
template <class T, int kVector>
__global__ void __launch_bounds__(kLogitThreads, 4) sum_columns(ColumnSumsLaunch args) {
  __shared__ TileOperands operands;
  __shared__ float warp_sums[kLogitWarps * kLogitTile];
  __shared__ float warp_entropies[kLogitWarps];

  const int thread = static_cast<int>(threadIdx.x);
  const int tile = static_cast<int>(blockIdx.x);
  const int kv_head = static_cast<int>(blockIdx.y);
  const int part = static_cast<int>(blockIdx.z);
  const int first_column = tile * kLogitTile;
  const int columns = min(kLogitTile, args.columns - first_column);
  const int column = tile_column();
  const int row = tile_row();
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
  for (int first_row = begin; first_row < end; first_row += kLogitTile) {
    float means[kLogitRows][kLogitColumns] = {};
    for (int head = 0; head < args.group; ++head) {
      const T* const query =
          static_cast<const T*>(args.query) + (first_head + head) * args.query_head_stride + first_row * args.query_row_stride;
      float products[kLogitRows][kLogitColumns];
      multiply<T, kVector>(TileRows{[&](int i) { return query + i * args.query_row_stride; }, end - first_row},
                           TileRows{[&](int i) { return key + i * args.key_row_stride; }, columns}, args.head_dim, operands, products);

      const float* const log_sum_exp = args.log_sum_exp + (first_head + head) * args.log_sum_exp_stride;
      float received[kLogitColumns] = {};
      float entropy = 0.0F;
#pragma unroll
      for (int r = 0; r < kLogitRows; ++r) {
        const int own = first_row + row + r;
        const float whole = own < end ? log_sum_exp[own] : 0.0F;
        const int seen = own < end ? min(columns, args.seen_by_first + own - first_column) : 0;
#pragma unroll
        for (int c = 0; c < kLogitColumns; ++c) {
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
        for (int warp = 0; warp < kLogitWarps; ++warp) sum += static_cast<double>(warp_entropies[warp]);
        entropies[head * entropy_stride] += sum;
      }
    }
    if (squares == nullptr) continue;
    const float share = 1.0F / static_cast<float>(args.group);
    float squared[kLogitColumns] = {};
#pragma unroll
    for (int r = 0; r < kLogitRows; ++r) {
#pragma unroll
      for (int c = 0; c < kLogitColumns; ++c) squared[c] = fmaf(means[r][c] * share, means[r][c] * share, squared[c]);
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
