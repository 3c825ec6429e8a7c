// The device code of a row's largest logit and of counts below it; launched by row_sparsity.cu, run on CPU threads in tests
// (tests/kernels/cuda_on_cpu.h).
//
// Both walk their rows as row_walk.cuh says. Thread blocks of one row combine their results in memory by atomic maxima and integer sums,
// which do not depend on order.
#pragma once

#include "kernels/api/cuda_row_sparsity.h"
#include "kernels/cuda/element.cuh"
#include "kernels/cuda/row_walk.cuh"

namespace winnow::kernels::cuda {

struct RowMaximaLaunch : RowWalkLaunch {
  float* maxima;
  std::int64_t maxima_stride;
};

struct CountBelowLaunch : RowWalkLaunch {
  const float* maxima;
  std::int64_t maxima_stride;
  float below;
  std::int64_t* counts;
};

// args have been checked, and there are rows and columns.
inline RowMaximaLaunch plan_launch(const CudaRowMaximaArgs& args) {
  RowMaximaLaunch launch = {};
  static_cast<RowWalkLaunch&>(launch) = plan_rows(args);
  launch.maxima = args.maxima;
  launch.maxima_stride = args.maxima_stride;
  return launch;
}

inline CountBelowLaunch plan_launch(const CudaCountBelowArgs& args) {
  CountBelowLaunch launch = {};
  static_cast<RowWalkLaunch&>(launch) = plan_rows(args);
  launch.maxima = args.maxima;
  launch.maxima_stride = args.maxima_stride;
  launch.below = args.below;
  launch.counts = args.counts;
  return launch;
}

// NaN if one of them is.
__device__ inline float greater_of(float a, float b) { return b > a || b != b ? b : a; }

// Like greater_of(), for values in memory. Floats of one sign are ordered as their bits, negative ones in reverse; all bits of a NaN but
// its sign are more than infinity's.
__device__ inline void raise(float* to, float value) {
  if (value < 0.0F) {
    atomicMin(reinterpret_cast<unsigned*>(to), __float_as_uint(value));
  } else {
    const unsigned bits = value != value ? 0x7FFFFFFFU : __float_as_uint(value + 0.0F);  // -0 would be the least
    atomicMax(reinterpret_cast<int*>(to), static_cast<int>(bits));
  }
}

// kVector: as multiply()'s.
template <class T, int kVector>
__global__ void __launch_bounds__(kLogitThreads, 4) find_row_maxima(RowMaximaLaunch args) {
  __shared__ TileOperands operands;
  __shared__ ItemTile items;
  const int row = tile_row();
  const int column = tile_column();
  const float none = minus_infinity();
  float highest[kLogitRows];
#pragma unroll
  for (int r = 0; r < kLogitRows; ++r) highest[r] = none;
  walk_columns<T, kVector>(args, operands, items, [&](const float(&logits)[kLogitRows][kLogitColumns], int first) {
#pragma unroll
    for (int r = 0; r < kLogitRows; ++r) {
      const int seen = items.seen[row + r] - first - column;
#pragma unroll
      for (int c = 0; c < kLogitColumns; ++c) highest[r] = greater_of(highest[r], c < seen ? logits[r][c] : none);
    }
  });
#pragma unroll
  for (int r = 0; r < kLogitRows; ++r) {
#pragma unroll
    for (int step = kLogitRowGroup / 2; step > 0; step /= 2) {
      highest[r] = greater_of(highest[r], __shfl_xor_sync(0xFFFFFFFFU, highest[r], step));
    }
    if (column == 0 && row + r < items_here(args)) {
      raise(args.maxima + head_of(args, row + r) * args.maxima_stride + row_at(args, row + r), highest[r]);
    }
  }
}

// kVector: as multiply()'s.
template <class T, int kVector>
__global__ void __launch_bounds__(kLogitThreads, 4) count_below(CountBelowLaunch args) {
  __shared__ TileOperands operands;
  __shared__ ItemTile items;
  __shared__ float thresholds[kLogitTile];
  __shared__ int counts[kLogitTile][kLogitRowGroup];
  const int thread = static_cast<int>(threadIdx.x);
  const int row = tile_row();
  const int column = tile_column();
  if (thread < items_here(args)) {
    thresholds[thread] = args.maxima[head_of(args, thread) * args.maxima_stride + row_at(args, thread)] + args.below;
  }
  int count[kLogitRows] = {};
  walk_columns<T, kVector>(args, operands, items, [&](const float(&logits)[kLogitRows][kLogitColumns], int first) {
#pragma unroll
    for (int r = 0; r < kLogitRows; ++r) {
      const int seen = items.seen[row + r] - first - column;
      const float threshold = thresholds[row + r];
#pragma unroll
      for (int c = 0; c < kLogitColumns; ++c) count[r] += c < seen && logits[r][c] < threshold ? 1 : 0;
    }
  });
#pragma unroll
  for (int r = 0; r < kLogitRows; ++r) counts[row + r][column / kLogitColumns] = count[r];
  __syncthreads();
  if (thread >= items_here(args)) return;
  int sum = 0;
#pragma unroll
  for (int i = 0; i < kLogitRowGroup; ++i) sum += counts[thread][i];
  if (sum > 0) atomicAdd(reinterpret_cast<unsigned long long*>(args.counts + head_of(args, thread)), static_cast<unsigned long long>(sum));
}

}  // namespace winnow::kernels::cuda
