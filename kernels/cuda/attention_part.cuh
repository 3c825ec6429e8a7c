// The core of decode attention on ordinary CUDA cores: one thread block attends a part of a KV head's rows of K and V for a tile of up to
// 8 query heads. Kernels (decode_attention.cuh, shared_attention.cu) say where the rows lie; the third (decode_attention_matrix.cuh) has a
// core of its own and shares the launch. Also runs on CPU fibers in tests (tests/kernels/cuda_on_cpu.h).
//
// Three steps for every 64 rows:
//   1. logits: 8 lanes share a row of K, a thread serves 4 rows against all query heads of the tile, so that 4 loads are in flight and
//      every query value read from shared memory is used 4 times;
//   2. online softmax: a warp per query head keeps the running maximum and sum;
//   3. output: threads own columns of V, adjacent threads adjacent columns; rows are dealt round-robin to the groups of threads.
// Sums are fp32 and always in the same order: the same inputs give the same bits. A logit that is not finite makes its head NaN, as in the
// reference.
#pragma once

#include <algorithm>

#include "kernels/api/cuda_decode_attention.h"
#include "kernels/cuda/element.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/warp.cuh"
#include "kernels/reference/check_attention.h"

namespace winnow::kernels::cuda {

constexpr int kThreads = 128;
constexpr int kWarps = kThreads / 32;
constexpr int kTile = static_cast<int>(kCudaTileSlots);
constexpr int kHeads = static_cast<int>(kCudaGroupTile);
constexpr int kRowLanes = 8;                       // threads that share a row of K
constexpr int kRowsAtOnce = kThreads / kRowLanes;  // rows of K in work at the same time
constexpr int kRows = kTile / kRowsAtOnce;         // rows of K per thread

struct AttentionLaunch {
  const void* query;
  void* output;
  const void* const* key_blocks;
  const void* const* value_blocks;
  std::int64_t table_stride;
  int group;
  int head_dim;
  int block_slots;
  int parts;
  int part_rows;  // a multiple of kTile
  float scale;
  bool direct;         // one part and no logits: its kernel writes the result
  float* log_sum_exp;  // or null
  float* logits;       // [heads, logit_stride], or null
  std::int64_t logit_stride;
  float* part_output;  // [heads, parts, head_dim]
  float* part_lse;     // [heads, parts]
};

// args have been checked. longest: rows of the longest head.
template <class Args>
AttentionLaunch plan_attention(const Args& args, std::int64_t longest) {
  AttentionLaunch launch = {};
  launch.query = args.query;
  launch.output = args.output;
  launch.key_blocks = args.key_blocks;
  launch.value_blocks = args.value_blocks;
  launch.table_stride = args.table_stride;
  launch.group = static_cast<int>(args.group);
  launch.head_dim = static_cast<int>(args.head_dim);
  launch.block_slots = static_cast<int>(args.block_slots);
  launch.parts = static_cast<int>(args.parts);
  launch.part_rows = static_cast<int>(cuda_part_rows(longest, args.parts));
  launch.scale = args.scale;
  launch.direct = args.parts == 1 && args.probabilities == nullptr;
  launch.log_sum_exp = args.log_sum_exp;
  launch.part_output = args.workspace;
  launch.part_lse = args.workspace + args.kv_heads * args.group * args.parts * args.head_dim;
  return launch;
}

// Thread blocks of the kernels that attend parts.
inline Grid part_grid(const AttentionLaunch& launch, std::int64_t kv_heads) {
  return {static_cast<unsigned>(launch.parts), static_cast<unsigned>(kv_heads),
          static_cast<unsigned>((launch.group + kHeads - 1) / kHeads)};
}

// Which part of which heads this thread block attends.
struct PartOfHeads {
  int part;
  int kv_head;
  int heads;                // of the tile
  std::int64_t first_head;  // of all query heads
};

__device__ inline PartOfHeads own_part(const AttentionLaunch& args) {
  const int kv_head = static_cast<int>(blockIdx.y);
  const int first_head = static_cast<int>(blockIdx.z) * kHeads;
  return {static_cast<int>(blockIdx.x), kv_head, min(kHeads, args.group - first_head),
          static_cast<std::int64_t>(kv_head) * args.group + first_head};
}

__device__ inline void store_log_sum_exp(const AttentionLaunch& args, const PartOfHeads& own, int head, float log_sum_exp) {
  if (!args.direct) {
    args.part_lse[(own.first_head + head) * args.parts + own.part] = log_sum_exp;
  } else if (args.log_sum_exp != nullptr) {
    args.log_sum_exp[own.first_head + head] = log_sum_exp;
  }
}

// Adds the products of queries, [heads, head_dim] in shared memory, and a thread's rows of K.
template <int kVector, class T>
__device__ inline void multiply_keys(const T* const (&rows)[kRows], const float* queries, int heads, int head_dim,
                                     float (&logits)[kRows][kHeads]) {
  for (int i = static_cast<int>(threadIdx.x) % kRowLanes * kVector; i < head_dim; i += kRowLanes * kVector) {
    Pack<T, kVector> key[kRows];
#pragma unroll
    for (int r = 0; r < kRows; ++r) key[r] = load<kVector>(rows[r] + i);
#pragma unroll
    for (int h = 0; h < kHeads; ++h) {
      if (h >= heads) break;
      const Pack<float, kVector> q = load<kVector>(queries + h * head_dim + i);
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
#pragma unroll
        for (int v = 0; v < kVector; ++v) logits[r][h] = fmaf(q.values[v], upcast(key[r].values[v]), logits[r][h]);
      }
    }
  }
}

// Sums of a thread block, in shared memory.
struct PartSums {
  alignas(16) float heads[kHeads * kMaxHeadDim];  // scaled queries; at the end the outputs. [head][head_dim]
  alignas(16) float weights[kTile * kHeads];      // logits, then e^(logit - maximum). [row][head]
  float maximum[kHeads];
  float sum[kHeads];
  float factor[kHeads];  // rescales sums from the old maximum to the new one
};

// A thread's columns of the output, and the rows of V that it adds: adjacent threads have adjacent columns. What it has added is an array
// beside it: as a member it costs registers.
template <int kVector>
struct OwnColumns {
  static constexpr int kColumn = kVector == 1 ? 1 : 2;                                  // elements of V side by side
  static constexpr int kRounds = static_cast<int>(kMaxHeadDim) / (kColumn * kThreads);  // columns per thread at the largest head size
  using Output = float[kRounds][kHeads][kColumn];

  __device__ explicit OwnColumns(int head_dim)
      : columns(head_dim / kColumn),
        row_threads(min(kThreads, columns)),
        row_groups(kThreads / row_threads),
        row_group(static_cast<int>(threadIdx.x) / row_threads),
        first_column(static_cast<int>(threadIdx.x) % row_threads) {}

  int columns;
  int row_threads;  // threads that own the columns of one row of V
  int row_groups;   // rows of V in work at the same time
  int row_group;    // == row_groups or more: left over
  int first_column;
};

// Turns the tile's logits into weights. first_row: of the tile.
template <class Tile>
__device__ inline void weigh_tile(const AttentionLaunch& args, const PartOfHeads& own, int first_row, int count, const Tile& tile,
                                  PartSums& sums) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (int h = static_cast<int>(threadIdx.x) / 32; h < own.heads; h += kWarps) {
    bool low_used = lane < count;
    bool high_used = lane + 32 < count;
    float& low = sums.weights[lane * kHeads + h];
    float& high = sums.weights[(lane + 32) * kHeads + h];
    const float low_logit = low_used ? low : minus_infinity();
    const float high_logit = high_used ? high : minus_infinity();
    if (args.logits != nullptr) {
      float* row = args.logits + (own.first_head + h) * args.logit_stride + first_row;
      if (low_used) row[lane] = low_logit;
      if (high_used) row[lane + 32] = high_logit;
    }
    const float before = sums.maximum[h];
    const float highest = warp_maximum(fmaxf(fmaxf(low_logit, high_logit), before));
    const float shift = Tile::kLooksUp && highest == minus_infinity() ? 0.0F : highest;  // only masked rows so far
    const float low_weight = low_used ? expf(low_logit - shift) : 0.0F;
    const float high_weight = high_used ? expf(high_logit - shift) : 0.0F;
    const float added = warp_sum(low_weight + high_weight);
    if constexpr (Tile::kLooksUp) {
      low_used = low_used && tile.is_live(lane);
      high_used = high_used && tile.is_live(lane + 32);
    }
    low = low_used ? low_weight : 0.0F;
    high = high_used ? high_weight : 0.0F;
    __syncwarp();  // all have read the maximum
    if (lane == 0) {
      sums.factor[h] = expf(before - shift);
      sums.sum[h] = sums.sum[h] * sums.factor[h] + added;
      sums.maximum[h] = highest;
    }
  }
}

// Adds the tile's weighted rows of V to the thread's columns.
template <int kVector, class Tile>
__device__ inline void add_values(int heads, int count, const Tile& tile, const PartSums& sums, const OwnColumns<kVector>& own,
                                  typename OwnColumns<kVector>::Output& output) {
  constexpr int kColumn = OwnColumns<kVector>::kColumn;
  constexpr int kRounds = OwnColumns<kVector>::kRounds;
  if (own.row_group >= own.row_groups) return;
#pragma unroll
  for (int h = 0; h < kHeads; ++h) {
    if (h >= heads) break;
#pragma unroll
    for (int round = 0; round < kRounds; ++round) {
#pragma unroll
      for (int c = 0; c < kColumn; ++c) output[round][h][c] *= sums.factor[h];
    }
  }
#pragma unroll 4
  for (int row = own.row_group; row < count; row += own.row_groups) {
    const Pack<float, kHeads> weight = load<kHeads>(sums.weights + row * kHeads);
    const auto* const values = tile.value(row);
#pragma unroll
    for (int round = 0; round < kRounds; ++round) {
      const int column = own.first_column + round * own.row_threads;
      if (column >= own.columns) break;
      const auto value = load<kColumn>(values + column * kColumn);
#pragma unroll
      for (int h = 0; h < kHeads; ++h) {
        if (h >= heads) break;
#pragma unroll
        for (int c = 0; c < kColumn; ++c) output[round][h][c] = fmaf(weight.values[h], upcast(value.values[c]), output[round][h][c]);
      }
    }
  }
}

// The groups of threads add their rows, one after the other.
template <int kVector>
__device__ inline void join_groups(int heads, int head_dim, const OwnColumns<kVector>& own,
                                   const typename OwnColumns<kVector>::Output& output, PartSums& sums) {
  constexpr int kColumn = OwnColumns<kVector>::kColumn;
  for (int group = 0; group < own.row_groups; ++group) {
    if (own.row_group == group) {
#pragma unroll
      for (int round = 0; round < OwnColumns<kVector>::kRounds; ++round) {
        const int column = own.first_column + round * own.row_threads;
        if (column >= own.columns) break;
#pragma unroll
        for (int h = 0; h < kHeads; ++h) {
          if (h >= heads) break;
#pragma unroll
          for (int c = 0; c < kColumn; ++c) {
            float& whole = sums.heads[h * head_dim + column * kColumn + c];
            whole = group == 0 ? output[round][h][c] : whole + output[round][h][c];
          }
        }
      }
    }
    __syncthreads();
  }
}

// Attends rows [begin, end) of the head, of which there is one. kVector: elements of K per load; 1 where rows do not begin at multiples of
// that. Tile says where a tile's rows lie:
//   find(first row, count): called by all threads before a tile is read;
//   key(row), value(row): of the tile;
//   multiply<kVector>(rows, count, queries, heads, logits): as multiply_keys();
//   kLooksUp: find() writes to shared memory and ends with a barrier, and rows may be masked. Then, for rows of the tile:
//   logit(row, product), and is_live(row): whether its value counts.
template <class T, int kVector, class Tile>
__device__ inline void attend(const AttentionLaunch& args, const PartOfHeads& own, int begin, int end, Tile& tile) {
  __shared__ PartSums sums;
  const int thread = static_cast<int>(threadIdx.x);
  const int head_dim = args.head_dim;
  const T* query = static_cast<const T*>(args.query) + own.first_head * head_dim;
  for (int i = thread; i < own.heads * head_dim; i += kThreads) sums.heads[i] = upcast(query[i]) * args.scale;
  if (thread < kHeads) {
    sums.maximum[thread] = minus_infinity();
    sums.sum[thread] = 0.0F;
  }
  const int row_lane = thread % kRowLanes;
  const int first_row = thread / kRowLanes;
  const OwnColumns<kVector> columns(head_dim);
  typename OwnColumns<kVector>::Output output = {};
  if constexpr (!Tile::kLooksUp) __syncthreads();

  for (int first = begin; first < end; first += kTile) {
    const int count = min(kTile, end - first);
    tile.find(first, count);
    const T* rows[kRows];
#pragma unroll
    for (int r = 0; r < kRows; ++r) rows[r] = tile.key(min(first_row + r * kRowsAtOnce, count - 1));  // past the end: any row
    float logits[kRows][kHeads] = {};
    tile.template multiply<kVector>(rows, count, sums.heads, own.heads, logits);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const int row = first_row + r * kRowsAtOnce;
#pragma unroll
      for (int h = 0; h < kHeads; ++h) {
        if (h >= own.heads) break;
        float logit = logits[r][h];
        for (int step = kRowLanes / 2; step > 0; step /= 2) logit += __shfl_xor_sync(0xFFFFFFFFU, logit, step);
        if constexpr (Tile::kLooksUp) {
          if (row_lane == 0 && row < count) sums.weights[row * kHeads + h] = tile.logit(row, logit);
        } else {
          if (row_lane == 0) sums.weights[row * kHeads + h] = logit;
        }
      }
    }
    __syncthreads();
    weigh_tile(args, own, first, count, tile, sums);
    __syncthreads();
    add_values(own.heads, count, tile, sums, columns, output);
    __syncthreads();  // the next tile overwrites the weights
  }

  join_groups(own.heads, head_dim, columns, output, sums);
  for (int i = thread; i < own.heads * head_dim; i += kThreads) {
    const int h = i / head_dim;
    if (args.direct) {
      narrow(sums.heads[i] / sums.sum[h], static_cast<T*>(args.output)[own.first_head * head_dim + i]);
    } else {
      // A part with only masked rows contributes nothing.
      const float value = Tile::kLooksUp && sums.sum[h] == 0.0F ? 0.0F : sums.heads[i] / sums.sum[h];
      args.part_output[((own.first_head + h) * args.parts + own.part) * head_dim + i % head_dim] = value;
    }
  }
  if (thread < own.heads) store_log_sum_exp(args, own, thread, sums.maximum[thread] + logf(sums.sum[thread]));
}

}  // namespace winnow::kernels::cuda
