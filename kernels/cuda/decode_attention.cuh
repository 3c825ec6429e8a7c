// The device code of decode attention; launched by decode_attention.cu. Also runs on CPU threads in tests (tests/kernels/cuda_on_cpu.h), so
// it uses no more of CUDA than that header knows.
//
// attend_part: one thread block per (part of the slots, KV head, tile of 8 query heads), in three steps for every 64 slots:
//   1. logits: 8 lanes share a row of K, a thread serves 4 rows against all query heads of the tile, so that 4 loads are in flight and
//      every query value read from shared memory is used 4 times;
//   2. online softmax: a warp per query head keeps the running maximum and sum;
//   3. output: threads own columns of V, adjacent threads adjacent columns; rows are dealt round-robin to the groups of threads.
//   merge_parts: one thread block per query head joins the parts by log-sum-exp. Sums are fp32 and always in the same order: the same
//   inputs give the same bits. A logit that is not finite makes its head NaN, as in the reference.
#pragma once

#include <algorithm>

#include "kernels/api/cuda_decode_attention.h"
#include "kernels/cuda/check_arguments.h"
#include "kernels/cuda/element.cuh"
#include "kernels/cuda/overlap.cuh"
#include "kernels/cuda/warp.cuh"

namespace winnow::kernels::cuda {

constexpr int kThreads = 128;
constexpr int kWarps = kThreads / 32;
constexpr int kTile = static_cast<int>(kCudaTileSlots);
constexpr int kHeads = static_cast<int>(kCudaGroupTile);
constexpr int kRowLanes = 8;                       // threads that share a row of K
constexpr int kRowsAtOnce = kThreads / kRowLanes;  // rows of K in work at the same time
constexpr int kRows = kTile / kRowsAtOnce;         // rows of K per thread

struct DecodeLaunch {
  const void* query;
  void* output;
  const void* const* key_blocks;
  const void* const* value_blocks;
  std::int64_t table_stride;
  int group;
  int head_dim;
  int block_slots;
  int parts;
  int part_slots;  // a multiple of kTile
  float scale;
  bool direct;           // one part and no probabilities: attend_part writes the result
  float* log_sum_exp;    // or null
  float* probabilities;  // or null
  std::int64_t probability_stride;
  float* part_output;           // [heads, parts, head_dim]
  float* part_lse;              // [heads, parts]
  const std::int32_t* further;  // or null
  int slots[kMaxCudaKvHeads];
};

__device__ inline int slots_of(const DecodeLaunch& args, int kv_head) {
  return args.slots[kv_head] + (args.further != nullptr ? *args.further : 0);
}

// args have been checked.
inline DecodeLaunch plan_launch(const CudaDecodeAttentionArgs& args) {
  DecodeLaunch launch = {};
  launch.query = args.query;
  launch.output = args.output;
  launch.key_blocks = args.key_blocks;
  launch.value_blocks = args.value_blocks;
  launch.table_stride = args.table_stride;
  launch.group = static_cast<int>(args.group);
  launch.head_dim = static_cast<int>(args.head_dim);
  launch.block_slots = static_cast<int>(args.block_slots);
  launch.parts = static_cast<int>(args.parts);
  launch.part_slots = static_cast<int>(cuda_part_slots(args));
  launch.scale = args.scale;
  launch.direct = args.parts == 1 && args.probabilities == nullptr;
  launch.log_sum_exp = args.log_sum_exp;
  launch.probabilities = args.probabilities;
  launch.probability_stride = args.probability_stride;
  launch.part_output = args.workspace;
  launch.part_lse = args.workspace + args.kv_heads * args.group * args.parts * args.head_dim;
  launch.further = args.further;
  std::copy_n(args.slots, args.kv_heads, launch.slots);
  return launch;
}

// kVector: elements of K per load; 1 where the head size is no multiple of 16 bytes.
template <class T, int kVector>
__global__ void __launch_bounds__(kThreads) attend_part(DecodeLaunch args) {
  let_next_begin();
  wait_for_earlier();
  constexpr int kColumn = kVector == 1 ? 1 : 2;                                  // elements of V that a thread owns side by side
  constexpr int kRounds = static_cast<int>(kMaxHeadDim) / (kColumn * kThreads);  // columns per thread at the largest head size
  alignas(16) __shared__ float shared_heads[kHeads * kMaxHeadDim];               // scaled queries; at the end the outputs. [head][head_dim]
  alignas(16) __shared__ float weights[kTile * kHeads];                          // logits, then e^(logit - maximum). [slot][head]
  __shared__ float maximum[kHeads];
  __shared__ float sum[kHeads];
  __shared__ float factor[kHeads];  // rescales sums from the old maximum to the new one

  const int thread = static_cast<int>(threadIdx.x);
  const int part = static_cast<int>(blockIdx.x);
  const int kv_head = static_cast<int>(blockIdx.y);
  const int first_head = static_cast<int>(blockIdx.z) * kHeads;
  const int heads = min(kHeads, args.group - first_head);
  const int head_dim = args.head_dim;
  const int begin = part * args.part_slots;
  const int end = min(slots_of(args, kv_head), begin + args.part_slots);
  if (begin >= end) return;  // a shorter head than others; the whole thread block returns

  const std::int64_t global_head = static_cast<std::int64_t>(kv_head) * args.group + first_head;
  const T* query = static_cast<const T*>(args.query) + global_head * head_dim;
  for (int i = thread; i < heads * head_dim; i += kThreads) shared_heads[i] = upcast(query[i]) * args.scale;
  if (thread < kHeads) {
    maximum[thread] = minus_infinity();
    sum[thread] = 0.0F;
  }
  const void* const* key_blocks = args.key_blocks + kv_head * args.table_stride;
  const void* const* value_blocks = args.value_blocks + kv_head * args.table_stride;

  const int lane = thread % 32;
  const int row_lane = thread % kRowLanes;
  const int first_row = thread / kRowLanes;
  const int columns = head_dim / kColumn;
  const int row_threads = min(kThreads, columns);  // threads that own the columns of one row of V
  const int row_groups = kThreads / row_threads;   // rows of V in work at the same time
  const int row_group = thread / row_threads;      // == row_groups or more: left over
  const int first_column = thread % row_threads;
  float output[kRounds][kHeads][kColumn] = {};
  __syncthreads();

  for (int tile = begin; tile < end; tile += kTile) {
    const int count = min(kTile, end - tile);
    const int block = tile / args.block_slots;
    const std::int64_t offset = static_cast<std::int64_t>(tile % args.block_slots) * head_dim;
    const T* keys = static_cast<const T*>(key_blocks[block]) + offset;
    const T* values = static_cast<const T*>(value_blocks[block]) + offset;

    const T* rows[kRows];
#pragma unroll
    for (int r = 0; r < kRows; ++r) rows[r] = keys + min(first_row + r * kRowsAtOnce, count - 1) * head_dim;  // past the end: any row
    float logits[kRows][kHeads] = {};
    for (int i = row_lane * kVector; i < head_dim; i += kRowLanes * kVector) {
      Pack<T, kVector> key[kRows];
#pragma unroll
      for (int r = 0; r < kRows; ++r) key[r] = load<kVector>(rows[r] + i);
#pragma unroll
      for (int h = 0; h < kHeads; ++h) {
        if (h >= heads) break;
        const Pack<float, kVector> q = load<kVector>(shared_heads + h * head_dim + i);
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
#pragma unroll
          for (int v = 0; v < kVector; ++v) logits[r][h] = fmaf(q.values[v], upcast(key[r].values[v]), logits[r][h]);
        }
      }
    }
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
#pragma unroll
      for (int h = 0; h < kHeads; ++h) {
        if (h >= heads) break;
        float logit = logits[r][h];
        for (int step = kRowLanes / 2; step > 0; step /= 2) logit += __shfl_xor_sync(0xFFFFFFFFU, logit, step);
        if (row_lane == 0) weights[(first_row + r * kRowsAtOnce) * kHeads + h] = logit;
      }
    }
    __syncthreads();

    for (int h = thread / 32; h < heads; h += kWarps) {
      const bool low_used = lane < count;
      const bool high_used = lane + 32 < count;
      float& low = weights[lane * kHeads + h];
      float& high = weights[(lane + 32) * kHeads + h];
      const float low_logit = low_used ? low : minus_infinity();
      const float high_logit = high_used ? high : minus_infinity();
      if (args.probabilities != nullptr) {
        float* row = args.probabilities + (global_head + h) * args.probability_stride + tile;
        if (low_used) row[lane] = low_logit;
        if (high_used) row[lane + 32] = high_logit;
      }
      const float before = maximum[h];
      const float highest = warp_maximum(fmaxf(fmaxf(low_logit, high_logit), before));
      low = low_used ? expf(low_logit - highest) : 0.0F;
      high = high_used ? expf(high_logit - highest) : 0.0F;
      const float added = warp_sum(low + high);
      __syncwarp();  // all have read the maximum
      if (lane == 0) {
        factor[h] = expf(before - highest);
        sum[h] = sum[h] * factor[h] + added;
        maximum[h] = highest;
      }
    }
    __syncthreads();

    if (row_group < row_groups) {
#pragma unroll
      for (int h = 0; h < kHeads; ++h) {
        if (h >= heads) break;
#pragma unroll
        for (int round = 0; round < kRounds; ++round) {
#pragma unroll
          for (int c = 0; c < kColumn; ++c) output[round][h][c] *= factor[h];
        }
      }
#pragma unroll 4
      for (int row = row_group; row < count; row += row_groups) {
        const Pack<float, kHeads> weight = load<kHeads>(weights + row * kHeads);
#pragma unroll
        for (int round = 0; round < kRounds; ++round) {
          const int column = first_column + round * row_threads;
          if (column >= columns) break;
          const Pack<T, kColumn> value = load<kColumn>(values + row * head_dim + column * kColumn);
#pragma unroll
          for (int h = 0; h < kHeads; ++h) {
            if (h >= heads) break;
#pragma unroll
            for (int c = 0; c < kColumn; ++c) output[round][h][c] = fmaf(weight.values[h], upcast(value.values[c]), output[round][h][c]);
          }
        }
      }
    }
    __syncthreads();  // the next tile overwrites the weights
  }

  // The groups of threads add their rows, one after the other.
  for (int turn = 0; turn < row_groups; ++turn) {
    if (row_group == turn) {
#pragma unroll
      for (int round = 0; round < kRounds; ++round) {
        const int column = first_column + round * row_threads;
        if (column >= columns) break;
#pragma unroll
        for (int h = 0; h < kHeads; ++h) {
          if (h >= heads) break;
#pragma unroll
          for (int c = 0; c < kColumn; ++c) {
            float& whole = shared_heads[h * head_dim + column * kColumn + c];
            whole = turn == 0 ? output[round][h][c] : whole + output[round][h][c];
          }
        }
      }
    }
    __syncthreads();
  }

  for (int i = thread; i < heads * head_dim; i += kThreads) {
    const int h = i / head_dim;
    const float value = shared_heads[i] / sum[h];
    if (args.direct) {
      narrow(value, static_cast<T*>(args.output)[global_head * head_dim + i]);
    } else {
      args.part_output[((global_head + h) * args.parts + part) * head_dim + i % head_dim] = value;
    }
  }
  if (thread < heads) {
    const float log_sum_exp = maximum[thread] + logf(sum[thread]);
    if (!args.direct) {
      args.part_lse[(global_head + thread) * args.parts + part] = log_sum_exp;
    } else if (args.log_sum_exp != nullptr) {
      args.log_sum_exp[global_head + thread] = log_sum_exp;
    }
  }
}

// Of the whole thread block, in all threads, always in the same order. of_warps: shared memory that nothing else uses until the next
// barrier.
template <class Join>
__device__ inline float join_warps(float own_warps, float* of_warps, Join join) {
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = own_warps;
  __syncthreads();
  float all = of_warps[0];
#pragma unroll
  for (int warp = 1; warp < kWarps; ++warp) all = join(all, of_warps[warp]);
  return all;
}

template <class T>
__global__ void __launch_bounds__(kThreads) merge_parts(DecodeLaunch args) {
  let_next_begin();
  wait_for_earlier();
  __shared__ float weights[kMaxCudaParts];
  __shared__ float maxima[kWarps];
  __shared__ float sums[kWarps];
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t head = blockIdx.x;
  const int slots = slots_of(args, static_cast<int>(head) / args.group);
  const int used = (slots + args.part_slots - 1) / args.part_slots;
  const float* lse = args.part_lse + head * args.parts;
  const float* parts = args.part_output + head * args.parts * args.head_dim;

  float highest = minus_infinity();
  for (int part = thread; part < used; part += kThreads) highest = fmaxf(highest, lse[part]);
  highest = join_warps(warp_maximum(highest), maxima, [](float a, float b) { return fmaxf(a, b); });
  float total = 0.0F;
  for (int part = thread; part < used; part += kThreads) {
    weights[part] = expf(lse[part] - highest);
    total += weights[part];
  }
  total = join_warps(warp_sum(total), sums, [](float a, float b) { return a + b; });  // the weights are there, too
  for (int i = thread; i < args.head_dim; i += kThreads) {
    float value = 0.0F;
#pragma unroll 4
    for (int part = 0; part < used; ++part) value = fmaf(weights[part], parts[part * args.head_dim + i], value);
    narrow(value / total, static_cast<T*>(args.output)[head * args.head_dim + i]);
  }
  const float whole = highest + logf(total);
  if (thread == 0 && args.log_sum_exp != nullptr) args.log_sum_exp[head] = whole;
  if (args.probabilities != nullptr) {
    float* row = args.probabilities + head * args.probability_stride;
    for (int slot = thread; slot < slots; slot += kThreads) row[slot] = expf(row[slot] - whole);
  }
}

}  // namespace winnow::kernels::cuda
