// The device code of attention over shared slots; launched by shared_attention.cu, run on CPU threads in tests
// (tests/kernels/cuda_on_cpu.h).
//
// attend_tokens: one thread block per (part of the tokens, KV head, tile of 8 query heads), in four steps for every 64 tokens:
//   1. a thread per token looks up where its key and value lie;
//   2. logits: 8 lanes share a row of K, a thread serves 4 rows against all query heads of the tile; a key that is rotated is rotated once
//      for all of them, in registers;
//   3. online softmax: a warp per query head keeps the running maximum and sum;
//   4. output: threads own columns of V, adjacent threads adjacent columns; rows are dealt round-robin to the groups of threads. Tokens of
//   one slot read its rows once each: memory gives them once, the second-level cache the other times.
// join_tokens: joins the parts of a query head by log-sum-exp, and takes the mean of the probabilities over a group. Sums are fp32 and
// always in the same order: the same inputs give the same bits. A logit that is not finite makes its head NaN, as in the reference.
#pragma once

#include <algorithm>
#include <cmath>

#include "kernels/api/cuda_shared_attention.h"
#include "kernels/cuda/element.cuh"
#include "kernels/cuda/warp.cuh"

namespace winnow::kernels::cuda {

constexpr int kTokenThreads = 128;
constexpr int kTokenWarps = kTokenThreads / 32;
constexpr int kTokenTile = static_cast<int>(kCudaTileSlots);
constexpr int kTokenHeads = static_cast<int>(kCudaGroupTile);
constexpr int kKeyLanes = 8;                            // threads that share a row of K
constexpr int kKeysAtOnce = kTokenThreads / kKeyLanes;  // rows of K in work at the same time
constexpr int kKeys = kTokenTile / kKeysAtOnce;         // rows of K per thread
constexpr int kJoinedTokens = 512;                      // whose probabilities a thread block of join_tokens writes

struct SharedAttentionLaunch {
  const void* query;
  void* output;
  const void* const* key_blocks;
  const void* const* value_blocks;
  std::int64_t table_stride;
  const std::int32_t* entry_slot;
  const float* entry_factor;
  const float* entry_position;  // or null
  const float* frequencies;     // or null
  std::int64_t entry_stride;
  int group;
  int head_dim;
  int block_slots;
  int parts;
  int part_tokens;  // a multiple of kTokenTile
  float scale;
  bool direct;           // one part and no probabilities: attend_tokens writes the result
  float* log_sum_exp;    // or null
  float* probabilities;  // or null
  std::int64_t probability_stride;
  float* part_output;  // [heads, parts, head_dim]
  float* part_lse;     // [heads, parts]
  float* logits;       // [heads, logit_stride], where probabilities are wanted
  std::int64_t logit_stride;
  int tokens[kMaxCudaKvHeads];
  int listed[kMaxCudaKvHeads];
  int covered[kMaxCudaKvHeads];
};
static_assert(sizeof(SharedAttentionLaunch) <= 4096, "what a launch takes along");

// args have been checked.
inline SharedAttentionLaunch plan_launch(const CudaSharedAttentionArgs& args) {
  SharedAttentionLaunch launch = {};
  launch.query = args.query;
  launch.output = args.output;
  launch.key_blocks = args.key_blocks;
  launch.value_blocks = args.value_blocks;
  launch.table_stride = args.table_stride;
  launch.entry_slot = args.entry_slot;
  launch.entry_factor = args.entry_factor;
  launch.entry_position = args.entry_position;
  launch.frequencies = args.frequencies;
  launch.entry_stride = args.entry_stride;
  launch.group = static_cast<int>(args.group);
  launch.head_dim = static_cast<int>(args.head_dim);
  launch.block_slots = static_cast<int>(args.block_slots);
  launch.parts = static_cast<int>(args.parts);
  const std::int64_t share = (longest_shared_head(args) + args.parts - 1) / args.parts;
  launch.part_tokens = static_cast<int>((share + kTokenTile - 1) / kTokenTile * kTokenTile);
  launch.scale = args.scale;
  launch.direct = args.parts == 1 && args.probabilities == nullptr;
  launch.log_sum_exp = args.log_sum_exp;
  launch.probabilities = args.probabilities;
  launch.probability_stride = args.probability_stride;
  const std::int64_t part_rows = args.kv_heads * args.group * args.parts;
  launch.part_output = args.workspace;
  launch.part_lse = args.workspace + part_rows * args.head_dim;
  launch.logits = args.probabilities != nullptr ? launch.part_lse + part_rows : nullptr;
  launch.logit_stride = longest_shared_head(args);
  for (std::int64_t head = 0; head < args.kv_heads; ++head) launch.tokens[head] = static_cast<int>(shared_tokens(args, head));
  std::copy_n(args.listed, args.kv_heads, launch.listed);
  std::copy_n(args.covered, args.kv_heads, launch.covered);
  return launch;
}

// Thread blocks of join_tokens for a KV head.
inline unsigned join_pieces(const SharedAttentionLaunch& launch) {
  const std::int64_t pieces = launch.probabilities != nullptr ? (launch.logit_stride + kJoinedTokens - 1) / kJoinedTokens : 0;
  return static_cast<unsigned>(std::max<std::int64_t>(launch.group, pieces));
}

// Elements of K per load: what 16 bytes hold, or fewer where rotated halves take registers. 1 where rows do not begin at multiples of that.
template <class T, bool kRotated>
inline constexpr int kKeyVector = kRotated ? 2 : kWidest<T>;
template <class T, bool kRotated>
bool reads_key_vectors(const CudaSharedAttentionArgs& args) {
  return kRotated ? args.head_dim % (2 * kKeyVector<T, kRotated>) == 0 : args.head_dim % kKeyVector<T, kRotated> == 0;
}

template <class T, int kVector, bool kRotated>
__global__ void __launch_bounds__(kTokenThreads) attend_tokens(SharedAttentionLaunch args) {
  constexpr int kColumn = kVector == 1 ? 1 : 2;                                       // elements of V that a thread owns side by side
  constexpr int kRounds = static_cast<int>(kMaxHeadDim) / (kColumn * kTokenThreads);  // columns per thread at the largest head size
  alignas(16) __shared__ float shared_heads[kTokenHeads * kMaxHeadDim];  // scaled queries; at the end the outputs. [head][head_dim]
  alignas(16) __shared__ float weights[kTokenTile * kTokenHeads];        // logits, then e^(logit - maximum). [token][head]
  __shared__ const T* key_rows[kTokenTile];
  __shared__ const T* value_rows[kTokenTile];
  __shared__ bool live[kTokenTile];
  __shared__ float factors[kTokenTile];  // of the logit; of a token that is not live the logit
  __shared__ float positions[kTokenTile];
  __shared__ float maximum[kTokenHeads];
  __shared__ float sum[kTokenHeads];
  __shared__ float factor[kTokenHeads];  // rescales sums from the old maximum to the new one

  const int thread = static_cast<int>(threadIdx.x);
  const int part = static_cast<int>(blockIdx.x);
  const int kv_head = static_cast<int>(blockIdx.y);
  const int first_head = static_cast<int>(blockIdx.z) * kTokenHeads;
  const int heads = min(kTokenHeads, args.group - first_head);
  const int head_dim = args.head_dim;
  const int listed = args.listed[kv_head];
  const std::int64_t begin = static_cast<std::int64_t>(part) * args.part_tokens;
  const int end = static_cast<int>(min(static_cast<std::int64_t>(args.tokens[kv_head]), begin + args.part_tokens));
  if (begin >= end) return;  // a shorter head than others; the whole thread block returns

  const std::int64_t global_head = static_cast<std::int64_t>(kv_head) * args.group + first_head;
  const T* query = static_cast<const T*>(args.query) + global_head * head_dim;
  for (int i = thread; i < heads * head_dim; i += kTokenThreads) shared_heads[i] = upcast(query[i]) * args.scale;
  if (thread < kTokenHeads) {
    maximum[thread] = minus_infinity();
    sum[thread] = 0.0F;
  }
  const void* const* key_blocks = args.key_blocks + kv_head * args.table_stride;
  const void* const* value_blocks = args.value_blocks + kv_head * args.table_stride;

  const int lane = thread % 32;
  const int key_lane = thread % kKeyLanes;
  const int first_key = thread / kKeyLanes;
  const int columns = head_dim / kColumn;
  const int row_threads = min(kTokenThreads, columns);  // threads that own the columns of one row of V
  const int row_groups = kTokenThreads / row_threads;   // rows of V in work at the same time
  const int row_group = thread / row_threads;           // == row_groups or more: left over
  const int first_column = thread % row_threads;
  float output[kRounds][kTokenHeads][kColumn] = {};

  for (int tile = static_cast<int>(begin); tile < end; tile += kTokenTile) {
    const int count = min(kTokenTile, end - tile);
    if (thread < count) {
      const int token = tile + thread;
      int slot = token - listed + args.covered[kv_head];
      float own_factor = 1.0F;
      float position = 0.0F;
      if (token < listed) {
        const std::int64_t entry = kv_head * args.entry_stride + token;
        slot = args.entry_slot[entry];
        own_factor = args.entry_factor[entry];
        if (kRotated) position = args.entry_position[entry];
      }
      live[thread] = slot >= 0;
      if (slot < 0) own_factor = slot == kZeroToken ? 0.0F : minus_infinity();
      slot = max(slot, 0);  // read, but without weight
      const std::int64_t offset = static_cast<std::int64_t>(slot % args.block_slots) * head_dim;
      key_rows[thread] = static_cast<const T*>(key_blocks[slot / args.block_slots]) + offset;
      value_rows[thread] = static_cast<const T*>(value_blocks[slot / args.block_slots]) + offset;
      factors[thread] = own_factor;
      positions[thread] = position;
    }
    __syncthreads();

    const T* rows[kKeys];
#pragma unroll
    for (int r = 0; r < kKeys; ++r) rows[r] = key_rows[min(first_key + r * kKeysAtOnce, count - 1)];  // past the end: any row
    float logits[kKeys][kTokenHeads] = {};
    if constexpr (kRotated) {
      const int half = head_dim / 2;
      for (int i = key_lane * kVector; i < half; i += kKeyLanes * kVector) {
#pragma unroll
        for (int r = 0; r < kKeys; ++r) {
          const float position = positions[min(first_key + r * kKeysAtOnce, count - 1)];
          const Pack<T, kVector> low = load<kVector>(rows[r] + i);
          const Pack<T, kVector> high = load<kVector>(rows[r] + half + i);
          float rotated[2][kVector];
#pragma unroll
          for (int v = 0; v < kVector; ++v) {
            float sine = 0.0F;
            float cosine = 1.0F;
            sincosf(__fmul_rn(position, args.frequencies[i + v]), &sine, &cosine);
            rotated[0][v] = fmaf(upcast(low.values[v]), cosine, -(upcast(high.values[v]) * sine));
            rotated[1][v] = fmaf(upcast(high.values[v]), cosine, upcast(low.values[v]) * sine);
          }
#pragma unroll
          for (int h = 0; h < kTokenHeads; ++h) {
            if (h >= heads) break;
            const Pack<float, kVector> first = load<kVector>(shared_heads + h * head_dim + i);
            const Pack<float, kVector> second = load<kVector>(shared_heads + h * head_dim + half + i);
#pragma unroll
            for (int v = 0; v < kVector; ++v) {
              logits[r][h] = fmaf(first.values[v], rotated[0][v], logits[r][h]);
              logits[r][h] = fmaf(second.values[v], rotated[1][v], logits[r][h]);
            }
          }
        }
      }
    } else {
      for (int i = key_lane * kVector; i < head_dim; i += kKeyLanes * kVector) {
        Pack<T, kVector> key[kKeys];
#pragma unroll
        for (int r = 0; r < kKeys; ++r) key[r] = load<kVector>(rows[r] + i);
#pragma unroll
        for (int h = 0; h < kTokenHeads; ++h) {
          if (h >= heads) break;
          const Pack<float, kVector> q = load<kVector>(shared_heads + h * head_dim + i);
#pragma unroll
          for (int r = 0; r < kKeys; ++r) {
#pragma unroll
            for (int v = 0; v < kVector; ++v) logits[r][h] = fmaf(q.values[v], upcast(key[r].values[v]), logits[r][h]);
          }
        }
      }
    }
#pragma unroll
    for (int r = 0; r < kKeys; ++r) {
      const int row = first_key + r * kKeysAtOnce;
#pragma unroll
      for (int h = 0; h < kTokenHeads; ++h) {
        if (h >= heads) break;
        float logit = logits[r][h];
        for (int step = kKeyLanes / 2; step > 0; step /= 2) logit += __shfl_xor_sync(0xFFFFFFFFU, logit, step);
        if (key_lane == 0 && row < count) weights[row * kTokenHeads + h] = live[row] ? logit * factors[row] : factors[row];
      }
    }
    __syncthreads();

    for (int h = thread / 32; h < heads; h += kTokenWarps) {
      const bool low_used = lane < count;
      const bool high_used = lane + 32 < count;
      float& low = weights[lane * kTokenHeads + h];
      float& high = weights[(lane + 32) * kTokenHeads + h];
      const float low_logit = low_used ? low : minus_infinity();
      const float high_logit = high_used ? high : minus_infinity();
      if (args.logits != nullptr) {
        float* row = args.logits + (global_head + h) * args.logit_stride + tile;
        if (low_used) row[lane] = low_logit;
        if (high_used) row[lane + 32] = high_logit;
      }
      const float before = maximum[h];
      const float highest = warp_maximum(fmaxf(fmaxf(low_logit, high_logit), before));
      const float shift = highest == minus_infinity() ? 0.0F : highest;  // only masked tokens so far
      const float low_weight = low_used ? expf(low_logit - shift) : 0.0F;
      const float high_weight = high_used ? expf(high_logit - shift) : 0.0F;
      const float added = warp_sum(low_weight + high_weight);
      low = low_used && live[lane] ? low_weight : 0.0F;
      high = high_used && live[lane + 32] ? high_weight : 0.0F;
      __syncwarp();  // all have read the maximum
      if (lane == 0) {
        factor[h] = expf(before - shift);
        sum[h] = sum[h] * factor[h] + added;
        maximum[h] = highest;
      }
    }
    __syncthreads();

    if (row_group < row_groups) {
#pragma unroll
      for (int h = 0; h < kTokenHeads; ++h) {
        if (h >= heads) break;
#pragma unroll
        for (int round = 0; round < kRounds; ++round) {
#pragma unroll
          for (int c = 0; c < kColumn; ++c) output[round][h][c] *= factor[h];
        }
      }
#pragma unroll 4
      for (int row = row_group; row < count; row += row_groups) {
        const Pack<float, kTokenHeads> weight = load<kTokenHeads>(weights + row * kTokenHeads);
        const T* const values = value_rows[row];
#pragma unroll
        for (int round = 0; round < kRounds; ++round) {
          const int column = first_column + round * row_threads;
          if (column >= columns) break;
          const Pack<T, kColumn> value = load<kColumn>(values + column * kColumn);
#pragma unroll
          for (int h = 0; h < kTokenHeads; ++h) {
            if (h >= heads) break;
#pragma unroll
            for (int c = 0; c < kColumn; ++c) output[round][h][c] = fmaf(weight.values[h], upcast(value.values[c]), output[round][h][c]);
          }
        }
      }
    }
    __syncthreads();  // the next tile overwrites rows and weights
  }

  // The groups of threads add their rows, one after the other.
  for (int owner = 0; owner < row_groups; ++owner) {
    if (row_group == owner) {
#pragma unroll
      for (int round = 0; round < kRounds; ++round) {
        const int column = first_column + round * row_threads;
        if (column >= columns) break;
#pragma unroll
        for (int h = 0; h < kTokenHeads; ++h) {
          if (h >= heads) break;
#pragma unroll
          for (int c = 0; c < kColumn; ++c) {
            float& whole = shared_heads[h * head_dim + column * kColumn + c];
            whole = owner == 0 ? output[round][h][c] : whole + output[round][h][c];
          }
        }
      }
    }
    __syncthreads();
  }

  for (int i = thread; i < heads * head_dim; i += kTokenThreads) {
    const int h = i / head_dim;
    if (args.direct) {
      narrow(shared_heads[i] / sum[h], static_cast<T*>(args.output)[global_head * head_dim + i]);
    } else {
      // A part with only masked tokens contributes nothing.
      const float value = sum[h] == 0.0F ? 0.0F : shared_heads[i] / sum[h];
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

// blockIdx.x: the query head of the group whose parts are joined, and the piece of the tokens whose probabilities are written.
template <class T>
__global__ void __launch_bounds__(kTokenThreads) join_tokens(SharedAttentionLaunch args) {
  __shared__ float highest[kMaxGroup];  // log-sum-exp of a query head's parts
  __shared__ float total[kMaxGroup];    // of their e^(log-sum-exp - highest)
  const int thread = static_cast<int>(threadIdx.x);
  const int piece = static_cast<int>(blockIdx.x);
  const int kv_head = static_cast<int>(blockIdx.y);
  const int tokens = args.tokens[kv_head];
  const int used = static_cast<int>((static_cast<std::int64_t>(tokens) + args.part_tokens - 1) / args.part_tokens);
  const std::int64_t first_head = static_cast<std::int64_t>(kv_head) * args.group;
  for (int h = thread; h < args.group; h += kTokenThreads) {
    const float* const lse = args.part_lse + (first_head + h) * args.parts;
    float most = minus_infinity();
    for (int part = 0; part < used; ++part) most = fmaxf(most, lse[part]);
    float sum = 0.0F;
    for (int part = 0; part < used; ++part) sum += expf(lse[part] - most);
    highest[h] = most;
    total[h] = sum;
  }
  __syncthreads();
  if (piece < args.group) {
    const std::int64_t head = first_head + piece;
    const float* const lse = args.part_lse + head * args.parts;
    const float* const parts = args.part_output + head * args.parts * args.head_dim;
    for (int i = thread; i < args.head_dim; i += kTokenThreads) {
      float value = 0.0F;
      for (int part = 0; part < used; ++part) value = fmaf(expf(lse[part] - highest[piece]), parts[part * args.head_dim + i], value);
      narrow(value / total[piece], static_cast<T*>(args.output)[head * args.head_dim + i]);
    }
    if (thread == 0 && args.log_sum_exp != nullptr) args.log_sum_exp[head] = highest[piece] + logf(total[piece]);
  }
  if (args.probabilities == nullptr) return;
  const int end = static_cast<int>(min(static_cast<std::int64_t>(tokens), (static_cast<std::int64_t>(piece) + 1) * kJoinedTokens));
  for (std::int64_t token = static_cast<std::int64_t>(piece) * kJoinedTokens + thread; token < end; token += kTokenThreads) {
    float sum = 0.0F;
    for (int h = 0; h < args.group; ++h) {
      sum += expf(args.logits[(first_head + h) * args.logit_stride + token] - highest[h]) / total[h];
    }
    args.probabilities[kv_head * args.probability_stride + token] = sum / static_cast<float>(args.group);
  }
}

}  // namespace winnow::kernels::cuda
