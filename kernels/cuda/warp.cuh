// Reductions over the threads of a warp. Used by the kernels of this folder.
#pragma once

namespace winnow::kernels::cuda {

__device__ inline float warp_maximum(float x) {
  for (int step = 16; step > 0; step /= 2) x = fmaxf(x, __shfl_xor_sync(0xFFFFFFFFU, x, step));
  return x;
}

// The sum over all 32 threads, in all of them, always in the same order.
__device__ inline float warp_sum(float x) {
  for (int step = 16; step > 0; step /= 2) x += __shfl_xor_sync(0xFFFFFFFFU, x, step);
  return x;
}

}  // namespace winnow::kernels::cuda
