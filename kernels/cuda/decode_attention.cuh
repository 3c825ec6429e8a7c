// The device code of decode attention; launched by decode_attention.cu. Also runs on CPU fibers in tests (tests/kernels/cuda_on_cpu.h), so
// it uses no more of CUDA than that header knows.
//
// attend_part: one thread block per (part of the slots, KV head, tile of 8 query heads), as in attention_part.cuh.
// merge_parts: one thread block per query head joins the parts by log-sum-exp, always in the same order.
#pragma once

#include <algorithm>

#include "kernels/api/cuda_decode_attention.h"
#include "kernels/cuda/attention_part.cuh"
#include "kernels/cuda/element.cuh"
#include "kernels/cuda/overlap.cuh"
#include "kernels/cuda/warp.cuh"

namespace winnow::kernels::cuda {

struct DecodeLaunch : AttentionLaunch {  // logits are turned into probabilities in place
  const std::int32_t* further;           // or null
  int slots[kMaxCudaKvHeads];
};

__device__ inline int slots_of(const DecodeLaunch& args, int kv_head) {
  return args.slots[kv_head] + (args.further != nullptr ? *args.further : 0);
}

// args have been checked.
inline DecodeLaunch plan_launch(const CudaDecodeAttentionArgs& args) {
  const std::int64_t longest = *std::max_element(args.slots, args.slots + args.kv_heads) + args.most_further;
  DecodeLaunch launch = {plan_attention(args, longest), args.further, {}};
  launch.logits = args.probabilities;
  launch.logit_stride = args.probability_stride;
  std::copy_n(args.slots, args.kv_heads, launch.slots);
  return launch;
}

// 64 neighbouring slots of a head.
template <class T>
struct TileOfSlots {
  static constexpr bool kLooksUp = false;

  __device__ void find(int slot, int /*count*/) {
    const std::int64_t offset = static_cast<std::int64_t>(slot % args.block_slots) * args.head_dim;
    const std::int64_t block = kv_head * args.table_stride + slot / args.block_slots;
    keys = static_cast<const T*>(args.key_blocks[block]) + offset;
    values = static_cast<const T*>(args.value_blocks[block]) + offset;
  }
  __device__ const T* key(int row) const { return keys + row * args.head_dim; }
  __device__ const T* value(int row) const { return values + row * args.head_dim; }
  template <int kVector>
  __device__ void multiply(const T* const (&rows)[kRows], int /*count*/, const float* queries, int heads,
                           float (&logits)[kRows][kHeads]) const {
    multiply_keys<kVector>(rows, queries, heads, args.head_dim, logits);
  }

  const AttentionLaunch& args;  // a copy of its members would cost registers
  int kv_head;
  const T* keys = nullptr;
  const T* values = nullptr;
};

// kVector: elements of K per load; 1 where the head size is no multiple of 16 bytes.
template <class T, int kVector>
__global__ void __launch_bounds__(kThreads) attend_part(DecodeLaunch args) {
  let_next_begin();
  wait_for_earlier();
  const PartOfHeads own = own_part(args);
  const int begin = own.part * args.part_rows;
  const int end = min(slots_of(args, own.kv_head), begin + args.part_rows);
  if (begin >= end) return;  // a shorter head than others; the whole thread block returns
  TileOfSlots<T> tile{args, own.kv_head};
  attend<T, kVector>(args, own, begin, end, tile);
}

// Joins the whole thread block, in all threads, always in the same order. of_warps: shared memory that nothing else uses until the next
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
  const int used = (slots + args.part_rows - 1) / args.part_rows;
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
  if (args.logits != nullptr) {
    float* row = args.logits + head * args.logit_stride;
    for (int slot = thread; slot < slots; slot += kThreads) row[slot] = expf(row[slot] - whole);
  }
}

}  // namespace winnow::kernels::cuda
