// Nearest slots: device code and launch. Tests run both on CPU threads, too (tests/kernels/cuda_on_cpu.h).
//
// A thread block for a part of a head: its warps take slots in turn, kNearestSlotRows at a time for enough loads in flight; adjacent lanes
// read adjacent elements of a row. The evicted key and value are in shared memory at length 1.
#include <algorithm>

#include "kernels/api/cuda_nearest_slots.h"
#include "kernels/cuda/element.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/warp.cuh"
#include "kernels/reference/check_slots.h"

namespace winnow::kernels::cuda {

constexpr int kNearestSlotWarps = 4;
constexpr int kNearestSlotRows = 4;  // of a warp at a time

template <class T>
__device__ inline const T* slot_row(const void* const* blocks, int slot, const CudaNearestSlotsArgs& args) {
  const int block_slots = static_cast<int>(args.block_slots);
  return static_cast<const T*>(blocks[slot / block_slots]) + slot % block_slots * args.head_dim;
}

// By all threads; readers wait for the others.
template <class T>
__device__ inline void write_unit(const T* row, int width, float* unit) {
  const int thread = static_cast<int>(threadIdx.x);
  float squares = 0.0F;
  for (int i = thread % 32; i < width; i += 32) squares = fmaf(upcast(row[i]), upcast(row[i]), squares);
  const float length = fmaxf(sqrtf(warp_sum(squares)), kLeastKeyLength);
  for (int i = thread; i < width; i += 32 * kNearestSlotWarps) unit[i] = upcast(row[i]) / length;
}

// A warp's rows from `first` on, those before `end`: their cosines with `unit`.
template <class T>
__device__ inline void find_cosines(const void* const* blocks, const float* unit, int first, int end, const CudaNearestSlotsArgs& args,
                                    float (&cosines)[kNearestSlotRows]) {
  const int width = static_cast<int>(args.head_dim);
  const T* rows[kNearestSlotRows];
#pragma unroll
  for (int r = 0; r < kNearestSlotRows; ++r) rows[r] = slot_row<T>(blocks, min(first + r, end - 1), args);  // past the end: any row
  float products[kNearestSlotRows] = {};
  float others[kNearestSlotRows] = {};
  for (int i = static_cast<int>(threadIdx.x) % 32; i < width; i += 32) {
#pragma unroll
    for (int r = 0; r < kNearestSlotRows; ++r) {
      const float number = upcast(rows[r][i]);
      products[r] = fmaf(unit[i], number, products[r]);
      others[r] = fmaf(number, number, others[r]);
    }
  }
#pragma unroll
  for (int r = 0; r < kNearestSlotRows; ++r) cosines[r] = warp_sum(products[r]) / fmaxf(sqrtf(warp_sum(others[r])), kLeastKeyLength);
}

__device__ inline bool takes_part(const SimilarAsked& asked, int slot) {
  constexpr int kBits = static_cast<int>(kNearestSlotWordSlots);
  return slot != asked.slot && (asked.among == nullptr || (asked.among[slot / kBits] >> (slot % kBits) & 1U) != 0);
}

// Merges the result of another search of later or interleaved slots.
__device__ inline void join_found(SimilarFound& found, const SimilarFound& other) {
  if (other.slot < 0) return;
  if (found.slot < 0 || other.similarity > found.similarity) {
    found = other;
  } else if (other.similarity == found.similarity) {
    found.slot = min(found.slot, other.slot);
    found.count += other.count;
  }
}

// Threads: 32 x kNearestSlotWarps; grid: parts x evicted slots.
template <class T>
__global__ void __launch_bounds__(32 * kNearestSlotWarps) find_similar(CudaNearestSlotsArgs args) {
  __shared__ float unit_key[kMaxSimilarWidth];
  __shared__ float unit_value[kMaxSimilarWidth];
  __shared__ SimilarFound of_warps[kNearestSlotWarps];
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const SimilarAsked asked = args.asked[blockIdx.y];
  const bool with_values = asked.value_blocks != nullptr;
  const int width = static_cast<int>(args.head_dim);
  write_unit(slot_row<T>(asked.key_blocks, asked.slot, args), width, unit_key);
  if (with_values) write_unit(slot_row<T>(asked.value_blocks, asked.slot, args), width, unit_value);
  __syncthreads();

  const int begin = static_cast<int>(blockIdx.x) * static_cast<int>(kNearestSlotPart);
  const int end = min(asked.slots, begin + static_cast<int>(kNearestSlotPart));
  SimilarFound found;
  for (int first = begin + warp * kNearestSlotRows; first < end; first += kNearestSlotWarps * kNearestSlotRows) {
    float cosines[kNearestSlotRows];
    find_cosines<T>(asked.key_blocks, unit_key, first, end, args, cosines);
    if (with_values) {
      float of_values[kNearestSlotRows];
      find_cosines<T>(asked.value_blocks, unit_value, first, end, args, of_values);
#pragma unroll
      for (int r = 0; r < kNearestSlotRows; ++r) cosines[r] *= of_values[r];
    }
#pragma unroll
    for (int r = 0; r < kNearestSlotRows; ++r) {
      const bool counts = first + r < end && takes_part(asked, first + r) && cosines[r] == cosines[r];
      if (counts) join_found(found, {cosines[r], first + r, 1});
    }
  }
  if (threadIdx.x % 32 == 0) of_warps[warp] = found;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int other = 1; other < kNearestSlotWarps; ++other) join_found(found, of_warps[other]);
  args.found[blockIdx.y * args.parts + blockIdx.x] = found;
}

}  // namespace winnow::kernels::cuda

namespace winnow::kernels {

LaunchStatus cuda_nearest_slots(const CudaNearestSlotsArgs& args, void* stream) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  constexpr std::int64_t kMostRows = 65535;  // of a grid
  for (std::int64_t first = 0; first < args.count; first += kMostRows) {
    CudaNearestSlotsArgs some = args;
    some.asked += first;
    some.found += first * args.parts;
    const cuda::Grid grid(static_cast<unsigned>(args.parts), static_cast<unsigned>(std::min(kMostRows, args.count - first)));
    cuda::for_type(args.type, [&](auto element) {
      cuda::launch_kernel(cuda::find_similar<decltype(element)>, grid, 32 * cuda::kNearestSlotWarps, stream, some);
    });
  }
  return cuda::launch_status();
}

}  // namespace winnow::kernels
