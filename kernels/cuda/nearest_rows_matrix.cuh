// The device code of nearest rows on tensor cores, for 16-bit rows. Launched by nearest_rows.cu instead of compare_rows, run on CPU threads
// in tests (tests/kernels/cuda_on_cpu.h).
//
// compare_by_matrix: a thread block has 128 asking rows and a part of those that they are compared with, each warp a strip of 32 asking
// rows, which stay in registers as the left matrix, those of both arrays where there are two. The others pass by, 64 or 32 at a time,
// copied into shared memory a step ahead; the indices of a step's rows are read another step before. A lane keeps the nearest of its own
// columns for four rows, and the four lanes that share these compare at the end. Warps meet at one barrier a step.
//
// The order of a product's elements is free: of every 32 elements a lane holds 8 neighbours of a row, one load of 16 bytes, and both
// matrices take them in the same order. Elements beyond the width are zeros. Columns of a tile are summed alike, wherever a row stands.
#pragma once

#include <type_traits>

#include "kernels/cuda/nearest_rows.cuh"
#include "kernels/cuda/tensor_core.cuh"

namespace winnow::kernels::cuda {

constexpr int kNearStrip = 32;                                 // asking rows of a warp: two of the tensor cores' tiles of 16
constexpr int kNearStrips = kNearStrip * (kNearThreads / 32);  // of a thread block
constexpr int kNearChunk = 32;                                 // elements of a row that a quad of lanes has from one load each
constexpr int kMostNearChunks = 8;                             // of all arrays: as many as registers hold

// Units of 8 rows that pass by together, and rows of a step: as registers and shared memory allow. kAll: chunks of all arrays.
template <int kAll, int kArrays>
inline constexpr int kNearEights = kAll > 4 || kArrays > 1 ? 2 : 4;
template <int kAll>
inline constexpr int kNearStep = kAll > 4 ? 32 : 64;

// The values of passing rows that a step needs.
template <int kAll>
struct alignas(16) PassingRows {
  static constexpr int kPieces = kNearChunk / 8 * kAll;  // of a row, 16 bytes each

  Pack<std::uint16_t, 8> pieces[kNearStep<kAll> * kPieces];
  float inverses[2][kNearStep<kAll>];

  // Lanes read a chunk, which is half of the banks, of two rows at a time: these lie in different halves.
  static __device__ int place(int row, int piece) { return row * kPieces + (piece ^ (row % 2 * 4)); }
};

// Chunks of one array.
inline std::int64_t near_chunks(const CudaNearestRowsArgs& args) {
  return args.width <= 2 * kNearChunk ? 2 : args.width <= 4 * kNearChunk ? 4 : 8;
}

template <class T>
bool fits_tensor_cores(const CudaNearestRowsArgs& args) {
  return sizeof(T) == 2 && reads_vectors<T>(args) && args.width <= kMostNearChunks * kNearChunk &&
         near_chunks(args) * (args.second != nullptr ? 2 : 1) <= kMostNearChunks;
}

// Calls launch(chunks, arrays), whose types say which version is launched. args fit the tensor cores.
template <class Launch>
void for_near_chunks(const CudaNearestRowsArgs& args, const Launch& launch) {
  using Two = std::integral_constant<int, 2>;
  using Four = std::integral_constant<int, 4>;
  if (args.second != nullptr) return near_chunks(args) == 2 ? launch(Two{}, Two{}) : launch(Four{}, Two{});
  using One = std::integral_constant<int, 1>;
  if (near_chunks(args) == 2) return launch(Two{}, One{});
  if (near_chunks(args) == 4) return launch(Four{}, One{});
  launch(std::integral_constant<int, kMostNearChunks>{}, One{});
}

// Asking rows of a warp: [chunk][half of it][tile of 16 rows], as tensor_core.cuh has A.
template <int kAll>
struct NearStripRows {
  unsigned pairs[kAll][2][2][4];
};

// Those from first_row on. Zeros where there are none.
template <class T, int kChunks, int kArrays>
__device__ inline void take_strip(const NearestLaunch& launch, int first_row, NearStripRows<kChunks * kArrays>& rows) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int eight = 0; eight < 4; ++eight) {
    const int row = first_row + eight * 8 + lane / 4;
    const bool is_there = row < launch.asking;
    const std::int32_t number = launch.args.asking[is_there ? row : 0];
#pragma unroll
    for (int chunk = 0; chunk < kChunks * kArrays; ++chunk) {
      const int k = chunk % kChunks * kNearChunk + lane % 4 * 8;
      Pack<unsigned, 4> pairs = {};
      if (is_there && k < launch.args.width) {
        pairs = load<4>(reinterpret_cast<const unsigned*>(near_row<T>(launch.args, chunk / kChunks, number) + k));
      }
#pragma unroll
      for (int pair = 0; pair < 4; ++pair) rows.pairs[chunk][pair / 2][eight / 2][pair % 2 * 2 + eight % 2] = pairs.values[pair];
    }
  }
}

// Starts to copy rows numbers[], a quad of lanes each, which are [first, first + step) of those that are compared with; zeros past the end.
template <class T, int kChunks, int kArrays>
__device__ inline void copy_passing(const NearestLaunch& launch, const int (&numbers)[kNearStep<kChunks * kArrays> / 32], int first,
                                    int end, PassingRows<kChunks * kArrays>& to) {
  constexpr int kRows = kNearStep<kChunks * kArrays>;
  const int thread = static_cast<int>(threadIdx.x);
#pragma unroll
  for (int turn = 0; turn < kRows / 32; ++turn) {
    const int row = turn * 32 + thread / 4;
#pragma unroll
    for (int array = 0; array < kArrays; ++array) {
      const T* const from = near_row<T>(launch.args, array, numbers[turn]) + thread % 4 * 8;
#pragma unroll
      for (int chunk = 0; chunk < kChunks; ++chunk) {
        copy_async<16>(&to.pieces[to.place(row, (array * kChunks + chunk) * 4 + thread % 4)], from + chunk * kNearChunk,
                       first + row < end && chunk * kNearChunk + thread % 4 * 8 < launch.args.width);
      }
    }
  }
  const int array = thread / kRows;
  const int row = thread % kRows;
  if (array < kArrays) {
    const float* const inverses = launch.inverses + static_cast<std::int64_t>(array) * (launch.asking + launch.among) + launch.asking;
    copy_async<4>(&to.inverses[array][row], inverses + first + row, first + row < end);
  }
}

// The products of a strip and the rows from `row` on, a multiple of 8: [8 of these, 16 asking rows, as tensor_core.cuh has D].
template <class T, int kChunks, int kAll, int kCount>
__device__ inline void multiply_near(const NearStripRows<kAll>& strip, int array, const PassingRows<kAll>& passing, int row,
                                     float (&products)[kCount][2][4]) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  constexpr int kPieces = PassingRows<kAll>::kPieces;
  const auto* const even = passing.pieces + passing.place(row + lane / 4, lane % 4);  // of even chunks; the others are at one distance
  const auto* const odd = passing.pieces + passing.place(row + lane / 4, lane % 4 + 4);
#pragma unroll
  for (int chunk = array * kChunks; chunk < (array + 1) * kChunks; ++chunk) {
#pragma unroll
    for (int eight = 0; eight < kCount; ++eight) {
      const auto* const piece = (chunk % 2 == 0 ? even : odd) + eight * 8 * kPieces + chunk / 2 * 8;
      const Pack<unsigned, 4> pairs = load<4>(reinterpret_cast<const unsigned*>(piece));
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const unsigned right[2] = {pairs.values[2 * half], pairs.values[2 * half + 1]};
#pragma unroll
        for (int tile = 0; tile < 2; ++tile) multiply_add(T{}, products[eight][tile], strip.pairs[chunk][half][tile], right);
      }
    }
  }
}

// The nearest so far of a lane's rows g, g + 8, g + 16 and g + 24 of the strip. NaN is stored as plus infinity, which a cosine never is, so
// one comparison orders all.
struct NearestOfLane {
  float most[4];
  int at[4];
};

__device__ inline float near_infinity() { return __uint_as_float(0x7F800000U); }

// first: of the lane's columns, which ascend; a later one has to be nearer. end: past the part's last one.
template <int kCount>
__device__ inline void keep_nearest(const float (&similarity)[kCount][2][4], int first, int end, NearestOfLane& nearest) {
  float limits[kCount][2];  // minus infinity where there is no row
#pragma unroll
  for (int i = 0; i < 2 * kCount; ++i) limits[i / 2][i % 2] = first + i / 2 * 8 + i % 2 < end ? near_infinity() : -near_infinity();
#pragma unroll
  for (int row = 0; row < 4; ++row) {
    const auto numbered = [&](int i) {  // the minimum of NaN and a value is the value
      return fminf(similarity[i / 2][row / 2][row % 2 * 2 + i % 2], limits[i / 2][i % 2]);
    };
    float most = numbered(0);
#pragma unroll
    for (int i = 1; i < 2 * kCount; ++i) most = fmaxf(most, numbered(i));
    if (most <= nearest.most[row]) continue;  // nearly always, once a few tiles have passed
    nearest.most[row] = most;
#pragma unroll
    for (int i = 2 * kCount - 1; i >= 0; --i) {
      if (numbered(i) == most) nearest.at[row] = first + i / 2 * 8 + i % 2;
    }
  }
}

template <class T, int kChunks, int kArrays>
__global__ void __launch_bounds__(kNearThreads, kChunks* kArrays > 4 ? 2 : 3) compare_by_matrix(NearestLaunch launch) {
  constexpr int kAll = kChunks * kArrays;
  constexpr int kRows = kNearStep<kAll>;
  constexpr int kCount = kNearEights<kAll, kArrays>;
  __shared__ PassingRows<kAll> steps[2];

  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % 32;
  const std::int64_t part = blockIdx.y;
  const int begin = static_cast<int>(part * launch.part_rows);
  const int end = static_cast<int>(min(static_cast<std::int64_t>(launch.among), (part + 1) * launch.part_rows));
  const int first_row = static_cast<int>(blockIdx.x) * kNearStrips + thread / 32 * kNearStrip;

  int numbers[kRows / 32];  // of the rows that this thread copies next
  const auto look_up = [&](int first) {
#pragma unroll
    for (int turn = 0; turn < kRows / 32; ++turn) numbers[turn] = launch.args.among[min(first + turn * 32 + thread / 4, end - 1)];
  };
  look_up(begin);
  copy_passing<T, kChunks, kArrays>(launch, numbers, begin, end, steps[0]);
  close_copies();
  look_up(begin + kRows);

  NearStripRows<kAll> strip;
  take_strip<T, kChunks, kArrays>(launch, first_row, strip);
  float own[kArrays][4];
  NearestOfLane nearest;
#pragma unroll
  for (int row = 0; row < 4; ++row) {
    const int known = min(first_row + row * 8 + lane / 4, launch.asking - 1);
#pragma unroll
    for (int array = 0; array < kArrays; ++array) {
      own[array][row] = launch.inverses[static_cast<std::int64_t>(array) * (launch.asking + launch.among) + known];
    }
    nearest.most[row] = -near_infinity();
    nearest.at[row] = begin;
  }

  int step = 0;
  for (int first = begin; first < end; first += kRows) {
    wait_for_copies<0>();
    __syncthreads();
    if (first + kRows < end) copy_passing<T, kChunks, kArrays>(launch, numbers, first + kRows, end, steps[1 - step]);  // all have left it
    close_copies();
    look_up(first + 2 * kRows);
    const PassingRows<kAll>& passing = steps[step];
    step = 1 - step;
#pragma unroll 1  // registers are scarce
    for (int row = 0; row < kRows; row += 8 * kCount) {
      float similarity[kCount][2][4];
#pragma unroll
      for (int array = 0; array < kArrays; ++array) {
        float products[kCount][2][4] = {};
        multiply_near<T, kChunks>(strip, array, passing, row, products);
#pragma unroll
        for (int eight = 0; eight < kCount; ++eight) {
          const Pack<float, 2> other = load<2>(&passing.inverses[array][row + eight * 8 + lane % 4 * 2]);
#pragma unroll
          for (int i = 0; i < 8; ++i) {
            const float cosine = products[eight][i / 4][i % 4] * own[array][i / 2] * other.values[i % 2];
            float& both = similarity[eight][i / 4][i % 4];
            both = array == 0 ? cosine : both * cosine;
          }
        }
      }
      keep_nearest(similarity, first + row + lane % 4 * 2, end, nearest);
    }
  }

#pragma unroll
  for (int row = 0; row < 4; ++row) {
    float most = nearest.most[row];
    int at = nearest.at[row];
#pragma unroll
    for (int other = 1; other < 4; other *= 2) {
      const float similarity = __shfl_xor_sync(0xFFFFFFFFU, most, other);
      const int index = __shfl_xor_sync(0xFFFFFFFFU, at, other);
      if (!is_nearer(similarity, index, most, at)) continue;
      most = similarity;
      at = index;
    }
    const int asking = first_row + row * 8 + lane / 4;
    if (lane % 4 != row || asking >= launch.asking) continue;
    launch.part_most[part * launch.asking + asking] = most == near_infinity() ? __uint_as_float(0x7FC00000U) : most;
    launch.part_at[part * launch.asking + asking] = at;
  }
}

}  // namespace winnow::kernels::cuda
