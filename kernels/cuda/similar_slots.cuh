// The device code of most similar slots; launched by similar_slots.cu, run on CPU threads in tests (tests/kernels/cuda_on_cpu.h).
//
// A thread block for a part of a head: its warps take slots in turn, kSimilarRows at a time so that as many loads are under way, the lanes
// of a warp neighbouring numbers of a key. The leaving key lies in shared memory at length 1.
#pragma once

#include "kernels/api/cuda_similar_slots.h"
#include "kernels/cuda/element.cuh"
#include "kernels/cuda/warp.cuh"

namespace winnow::kernels::cuda {

constexpr int kSimilarWarps = 4;
constexpr int kSimilarRows = 4;  // of a warp at a time

template <class T>
__device__ inline const T* key_row(const SimilarAsked& asked, int slot, const CudaSimilarSlotsArgs& args) {
  const int block_slots = static_cast<int>(args.block_slots);
  return static_cast<const T*>(asked.key_blocks[slot / block_slots]) + slot % block_slots * args.head_dim;
}

// Takes what another found of later slots, or of slots between its own, into account.
__device__ inline void join_found(SimilarFound& found, const SimilarFound& other) {
  if (other.slot < 0) return;
  if (found.slot < 0 || other.cosine > found.cosine) {
    found = other;
  } else if (other.cosine == found.cosine) {
    found.slot = min(found.slot, other.slot);
    found.count += other.count;
  }
}

// Threads: 32 x kSimilarWarps; grid: parts x those that leave.
template <class T>
__global__ void __launch_bounds__(32 * kSimilarWarps) find_similar(CudaSimilarSlotsArgs args) {
  __shared__ float unit[kMaxSimilarWidth];
  __shared__ SimilarFound of_warps[kSimilarWarps];
  const int thread = static_cast<int>(threadIdx.x);
  const int warp = thread / 32;
  const int lane = thread % 32;
  const int width = static_cast<int>(args.head_dim);
  const SimilarAsked asked = args.asked[blockIdx.y];
  const T* const leaving = key_row<T>(asked, asked.slot, args);
  float squares = 0.0F;
  for (int i = lane; i < width; i += 32) squares = fmaf(widen(leaving[i]), widen(leaving[i]), squares);
  const float length = fmaxf(sqrtf(warp_sum(squares)), kLeastKeyLength);
  for (int i = thread; i < width; i += 32 * kSimilarWarps) unit[i] = widen(leaving[i]) / length;
  __syncthreads();

  const int begin = static_cast<int>(blockIdx.x) * static_cast<int>(kSimilarPart);
  const int end = min(asked.slots, begin + static_cast<int>(kSimilarPart));
  SimilarFound found;
  for (int first = begin + warp * kSimilarRows; first < end; first += kSimilarWarps * kSimilarRows) {
    const T* rows[kSimilarRows];
#pragma unroll
    for (int r = 0; r < kSimilarRows; ++r) rows[r] = key_row<T>(asked, min(first + r, end - 1), args);  // past the end: any row
    float products[kSimilarRows] = {};
    float others[kSimilarRows] = {};
    for (int i = lane; i < width; i += 32) {
#pragma unroll
      for (int r = 0; r < kSimilarRows; ++r) {
        const float number = widen(rows[r][i]);
        products[r] = fmaf(unit[i], number, products[r]);
        others[r] = fmaf(number, number, others[r]);
      }
    }
#pragma unroll
    for (int r = 0; r < kSimilarRows; ++r) {
      const float cosine = warp_sum(products[r]) / fmaxf(sqrtf(warp_sum(others[r])), kLeastKeyLength);
      const bool counts = first + r < end && first + r != asked.slot && cosine == cosine;
      if (counts) join_found(found, {cosine, first + r, 1});
    }
  }
  if (lane == 0) of_warps[warp] = found;
  __syncthreads();
  if (thread != 0) return;
  for (int other = 1; other < kSimilarWarps; ++other) join_found(found, of_warps[other]);
  args.found[blockIdx.y * args.parts + blockIdx.x] = found;
}

}  // namespace winnow::kernels::cuda
