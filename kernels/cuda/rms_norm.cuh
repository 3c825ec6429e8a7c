// The device code of RMS norms; launched by rms_norm.cu, run on CPU threads in tests (tests/kernels/cuda_on_cpu.h).
//
// A warp computes a row of up to kWarpFeatures elements, eight rows to a thread block; a longer row takes a thread block. Every thread sums
// the squares of its own elements, then normalises them, so no thread reads another's results. In decode steps, a thread block holds each
// of the few rows in registers and issues all loads at once. Sums are always in the same order.
#pragma once

#include <cstdint>

#include "kernels/api/rms_norm.h"
#include "kernels/cuda/element.cuh"
#include "kernels/cuda/overlap.cuh"
#include "kernels/cuda/warp.cuh"

namespace winnow::kernels::cuda {

constexpr int kNormThreads = 256;
constexpr std::int64_t kWarpFeatures = 1024;
constexpr int kHoldingThreads = 1024;       // at most, each with a vector of the row
constexpr std::int64_t kFewNormRows = 128;  // no more than there are multiprocessors

struct NormLaunch {
  const void* input;
  GroupStrides input_strides;
  const void* weight;
  bool wide_weight;  // in fp32 where the rows are not
  float epsilon;
  void* output;
  GroupStrides output_strides;
  const void* added;  // or null
  std::int64_t added_stride;
  void* sum;
  int features;
  int groups;
  int rows;  // times groups
};

// args have been checked.
inline NormLaunch plan_launch(const RmsNormArgs& args) {
  NormLaunch launch = {};
  launch.input = args.input;
  launch.input_strides = args.input_strides;
  launch.weight = args.weight;
  launch.wide_weight = args.weight_type != args.type;
  launch.epsilon = args.epsilon;
  launch.output = args.output;
  launch.output_strides = args.output_strides;
  launch.added = args.added;
  launch.added_stride = args.added_stride;
  launch.sum = args.sum;
  launch.features = static_cast<int>(args.features);
  launch.groups = static_cast<int>(args.groups);
  launch.rows = static_cast<int>(args.rows * args.groups);
  return launch;
}

// True if kWidest adjacent elements can be moved at once: every row of every tensor begins at a multiple of 16 bytes.
template <class T>
bool moves_vectors(const RmsNormArgs& args) {
  const auto fits = [](const GroupStrides& strides) { return strides.row % kWidest<T> == 0 && strides.group % kWidest<T> == 0; };
  return args.features % kWidest<T> == 0 && fits(args.input_strides) && fits(args.output_strides) && args.added_stride % kWidest<T> == 0 &&
         is_aligned(args.input) && is_aligned(args.weight) && is_aligned(args.output) && is_aligned(args.added) && is_aligned(args.sum);
}

// True if a thread block holds each row.
template <class T>
bool holds_rows(const RmsNormArgs& args) {
  return args.groups == 1 && args.rows <= kFewNormRows && args.features <= kHoldingThreads * kWidest<T> && moves_vectors<T>(args);
}

// Warps of a thread block that holds a row.
template <class T>
int holding_warps(const RmsNormArgs& args) {
  constexpr int kWarpHolds = 32 * kWidest<T>;
  return static_cast<int>((args.features + kWarpHolds - 1) / kWarpHolds);
}

// Thread blocks where a row has so many threads.
inline unsigned norm_blocks(const RmsNormArgs& args, int row_threads) {
  const std::int64_t at_once = kNormThreads / row_threads;
  return static_cast<unsigned>((args.rows * args.groups + at_once - 1) / at_once);
}

// Sum over the row's threads, returned to all of them.
template <int kRowThreads>
__device__ inline float row_sum(float x) {
  const float own = warp_sum(x);
  if constexpr (kRowThreads == 32) return own;
  __shared__ float parts[kNormThreads / 32];
  const int thread = static_cast<int>(threadIdx.x);
  if (thread % 32 == 0) parts[thread / 32] = own;
  __syncthreads();
  float sum = 0.0F;
  for (int warp = 0; warp < kRowThreads / 32; ++warp) sum += parts[warp];
  return sum;
}

// x * scale, rounded to the weight's type, times it, rounded to T.
template <class T, class Weight>
__device__ inline void weigh(float scaled, Weight weight, T& to) {
  Weight rounded;
  narrow(scaled, rounded);
  narrow(upcast(rounded) * upcast(weight), to);
}

// kVector: elements that a thread moves at once. kRowThreads: 32 or kNormThreads.
template <class T, int kVector, int kRowThreads>
__global__ void __launch_bounds__(kNormThreads) normalise_rows(NormLaunch args) {
  let_next_begin();
  wait_for_earlier();
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * (kNormThreads / kRowThreads) + thread / kRowThreads;
  if (index >= args.rows) return;  // a whole warp; longer rows have a thread block each
  const std::int64_t row = index / args.groups;
  const std::int64_t group = index % args.groups;
  const std::int64_t from = row * args.input_strides.row + group * args.input_strides.group;
  const T* numbers = static_cast<const T*>(args.input) + from;
  const T* const added = static_cast<const T*>(args.added) + row * args.added_stride;
  T* const sums = static_cast<T*>(args.sum) + from;
  const int first = thread % kRowThreads * kVector;
  constexpr int kStride = kRowThreads * kVector;

  float squares = 0.0F;
  for (int i = first; i < args.features; i += kStride) {
    Pack<T, kVector> pack = load<kVector>(numbers + i);
    if (args.added != nullptr) {
      const Pack<T, kVector> more = load<kVector>(added + i);
#pragma unroll
      for (int v = 0; v < kVector; ++v) narrow(upcast(pack.values[v]) + upcast(more.values[v]), pack.values[v]);
      store(pack, sums + i);
    }
#pragma unroll
    for (int v = 0; v < kVector; ++v) squares = fmaf(upcast(pack.values[v]), upcast(pack.values[v]), squares);
  }
  if (args.added != nullptr) numbers = sums;
  const float scale = 1.0F / sqrtf(row_sum<kRowThreads>(squares) / static_cast<float>(args.features) + args.epsilon);

  T* const output = static_cast<T*>(args.output) + row * args.output_strides.row + group * args.output_strides.group;
  for (int i = first; i < args.features; i += kStride) {
    Pack<T, kVector> pack = load<kVector>(numbers + i);
    if (args.wide_weight) {
      const float* const weight = static_cast<const float*>(args.weight) + i;
#pragma unroll
      for (int v = 0; v < kVector; ++v) weigh(upcast(pack.values[v]) * scale, weight[v], pack.values[v]);
    } else {
      const Pack<T, kVector> weight = load<kVector>(static_cast<const T*>(args.weight) + i);
#pragma unroll
      for (int v = 0; v < kVector; ++v) weigh(upcast(pack.values[v]) * scale, weight.values[v], pack.values[v]);
    }
    store(pack, output + i);
  }
}

// Sum over the threads of a block of so many warps, returned to all of them.
__device__ inline float block_sum(float x, int warps) {
  __shared__ float parts[kHoldingThreads / 32];
  const int thread = static_cast<int>(threadIdx.x);
  const float own = warp_sum(x);
  if (thread % 32 == 0) parts[thread / 32] = own;
  __syncthreads();
  return warp_sum(thread % 32 < warps ? parts[thread % 32] : 0.0F);
}

// For tensors with holds_rows(). Threads: 32 x warps; grid: the rows.
template <class T, class Weight>
__global__ void __launch_bounds__(kHoldingThreads) normalise_held_row(NormLaunch args, int warps) {
  let_next_begin();
  constexpr int kVector = kWidest<T>;
  const std::int64_t row = blockIdx.x;
  const int own = static_cast<int>(threadIdx.x) * kVector;
  const bool holds = own < args.features;
  const int first = holds ? own : 0;  // past the end: any elements
  T* const sums = static_cast<T*>(args.sum) + row * args.input_strides.row;
  const T* const input = static_cast<const T*>(args.input) + row * args.input_strides.row;
  const T* const added = args.added != nullptr ? static_cast<const T*>(args.added) + row * args.added_stride : input;  // or not used
  const Pack<Weight, kVector> weight = load<kVector>(static_cast<const Weight*>(args.weight) + first);
  wait_for_earlier();
  Pack<T, kVector> pack = load<kVector>(input + first);
  const Pack<T, kVector> more = load<kVector>(added + first);
  if (args.added != nullptr) {
#pragma unroll
    for (int v = 0; v < kVector; ++v) narrow(upcast(pack.values[v]) + upcast(more.values[v]), pack.values[v]);
    if (holds) store(pack, sums + first);
  }
  float squares = 0.0F;
#pragma unroll
  for (int v = 0; v < kVector; ++v) squares = fmaf(upcast(pack.values[v]), upcast(pack.values[v]), squares);
  const float scale = 1.0F / sqrtf(block_sum(holds ? squares : 0.0F, warps) / static_cast<float>(args.features) + args.epsilon);
  if (!holds) return;
#pragma unroll
  for (int v = 0; v < kVector; ++v) weigh(upcast(pack.values[v]) * scale, weight.values[v], pack.values[v]);
  store(pack, static_cast<T*>(args.output) + row * args.output_strides.row + first);
}

}  // namespace winnow::kernels::cuda
