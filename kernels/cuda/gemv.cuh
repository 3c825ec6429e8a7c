// The device code of GEMVs with dense matrices; launched by gemv.cu, run on CPU threads in tests (tests/kernels/cuda_on_cpu.h).
//
// A GEMV is bound by memory, so enough loads have to be in flight. A warp computes two matrix rows, which share the input's loads. Its
// threads take pieces of 16 bytes in turn, adjacent threads adjacent pieces, and each loads four of every row before it multiplies the
// first. If that is not the whole row, or a matrix has few rows, several warps of a thread block share theirs, so that they end together.
// If gated, a warp's two rows are a gate row and its up row. The matrix is constant, so its first pieces are loaded while earlier launches
// end. Sums are always in the same order.
#pragma once

#include <type_traits>

#include "kernels/api/cuda_gemv.h"
#include "kernels/cuda/activation.cuh"
#include "kernels/cuda/element.cuh"
#include "kernels/cuda/overlap.cuh"
#include "kernels/cuda/warp.cuh"

namespace winnow::kernels::cuda {

constexpr int kGemvWarps = 8;  // of a thread block
constexpr int kRowsOfWarp = 2;
constexpr int kPiecesAhead = 4;              // of each row
constexpr int kGemvBlocks = 4;               // at once on a multiprocessor, as registers allow
constexpr std::int64_t kEnoughWarps = 3072;  // 24 for each of 128 multiprocessors

struct GemvLaunch {
  const void* matrix;
  const void* input;
  const void* bias;  // or null
  void* output;
  ElementType output_type;
  int rows;    // of the output
  int pieces;  // of a row of the matrix
  bool gated;  // output row r is of the matrix's rows r and rows + r
  Activation activation;
};

// args have been checked.
inline GemvLaunch plan_launch(const CudaGemvArgs& args) {
  const int piece = args.type == ElementType::kFp32 ? kWidest<float> : kWidest<Bf16>;
  return {args.matrix,
          args.input,
          args.bias,
          args.output,
          args.output_type,
          static_cast<int>(args.rows),
          static_cast<int>(args.columns / piece),
          args.gated.has_value(),
          args.gated.value_or(Activation::kSilu)};
}

// Outputs that a warp, alone or with others, writes.
__host__ __device__ inline int rows_written(const GemvLaunch& launch) { return launch.gated ? 1 : kRowsOfWarp; }

// How many warps share two rows: as many as it takes for each thread to ask for all of its pieces at once, and for enough warps, as long as
// every thread has a piece of each.
inline int sharing_warps(const GemvLaunch& launch) {
  const std::int64_t alone = (static_cast<std::int64_t>(launch.rows) + rows_written(launch) - 1) / rows_written(launch);
  const auto are_too_few = [&](int sharing) {
    const bool asks_again = launch.pieces > kPiecesAhead * 32 * sharing;
    return asks_again || (alone * sharing < kEnoughWarps && launch.pieces >= 2 * 32 * sharing);
  };
  int sharing = 1;
  while (sharing < kGemvWarps && are_too_few(sharing)) sharing *= 2;
  return sharing;
}

// Calls launch(sharing), a constant of its type's name.
template <class Launch>
void with_sharing(int sharing, const Launch& launch) {
  switch (sharing) {
    case 1: return launch(std::integral_constant<int, 1>());
    case 2: return launch(std::integral_constant<int, 2>());
    case 4: return launch(std::integral_constant<int, 4>());
    default: return launch(std::integral_constant<int, kGemvWarps>());
  }
}

inline unsigned gemv_blocks(const GemvLaunch& launch, int sharing) {
  const int rows_of_block = kGemvWarps / sharing * rows_written(launch);
  return static_cast<unsigned>((launch.rows + rows_of_block - 1) / rows_of_block);
}

// 16 bytes of a row as words, which stay in registers until they are multiplied.
using RowPiece = Pack<unsigned, 4>;

__device__ inline void upcast_word(unsigned word, float (&numbers)[1], float /*of*/) { numbers[0] = __uint_as_float(word); }
__device__ inline void upcast_word(unsigned word, float (&numbers)[2], Bf16 /*of*/) {
  numbers[0] = __uint_as_float(word << 16);
  numbers[1] = __uint_as_float(word & 0xFFFF0000U);
}
__device__ inline void upcast_word(unsigned word, float (&numbers)[2], Fp16 /*of*/) {
  numbers[0] = upcast(Fp16{static_cast<std::uint16_t>(word)});
  numbers[1] = upcast(Fp16{static_cast<std::uint16_t>(word >> 16)});
}

// kSharing: 1, 2, 4 or kGemvWarps. Threads: 32 x kGemvWarps; grid: gemv_blocks().
template <class T, int kSharing>
__global__ void __launch_bounds__(32 * kGemvWarps, kGemvBlocks) multiply_row(GemvLaunch args) {
  constexpr int kWordNumbers = 4 / static_cast<int>(sizeof(T));
  constexpr int kStride = 32 * kSharing;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int part = warp % kSharing;
  const int first_row = (static_cast<int>(blockIdx.x) * (kGemvWarps / kSharing) + warp / kSharing) * rows_written(args);
  const int apart = args.gated ? args.rows : 1;  // the warp's rows of the matrix
  const int last_row = args.gated ? 2 * args.rows - 1 : args.rows - 1;
  let_next_begin();
  const RowPiece* const input = static_cast<const RowPiece*>(args.input);
  const RowPiece* rows[kRowsOfWarp];
#pragma unroll
  for (int r = 0; r < kRowsOfWarp; ++r) {
    const std::int64_t row = min(first_row + r * apart, last_row);  // past the end: any row
    rows[r] = static_cast<const RowPiece*>(args.matrix) + row * args.pieces;
  }
  const bool adds = part == 0 && lane < kRowsOfWarp && first_row + lane * apart <= last_row;  // a thread for each row
  T bias = {};                                                                                // upcast once loaded: no wait here
  if (adds && args.bias != nullptr) bias = static_cast<const T*>(args.bias)[first_row + lane * apart];

  float sums[kRowsOfWarp] = {};
  for (int first = 0; first < args.pieces; first += kPiecesAhead * kStride) {
    RowPiece numbers[kPiecesAhead][kRowsOfWarp] = {};
    RowPiece inputs[kPiecesAhead] = {};
#pragma unroll
    for (int ahead = 0; ahead < kPiecesAhead; ++ahead) {
      const int piece = first + ahead * kStride + part * 32 + lane;
      if (piece >= args.pieces) continue;
#pragma unroll
      for (int r = 0; r < kRowsOfWarp; ++r) numbers[ahead][r] = rows[r][piece];
    }
    if (first == 0) wait_for_earlier();
#pragma unroll
    for (int ahead = 0; ahead < kPiecesAhead; ++ahead) {
      const int piece = first + ahead * kStride + part * 32 + lane;
      if (piece < args.pieces) inputs[ahead] = input[piece];
    }
#pragma unroll
    for (int ahead = 0; ahead < kPiecesAhead; ++ahead) {
      if (first + ahead * kStride >= args.pieces) break;  // for all threads
#pragma unroll
      for (int word = 0; word < 4; ++word) {
        float x[kWordNumbers];
        upcast_word(inputs[ahead].values[word], x, T());
#pragma unroll
        for (int r = 0; r < kRowsOfWarp; ++r) {
          float weights[kWordNumbers];
          upcast_word(numbers[ahead][r].values[word], weights, T());
#pragma unroll
          for (int k = 0; k < kWordNumbers; ++k) sums[r] = fmaf(weights[k], x[k], sums[r]);
        }
      }
    }
  }

#pragma unroll
  for (int r = 0; r < kRowsOfWarp; ++r) sums[r] = warp_sum(sums[r]);
  float sum = lane == 0 ? sums[0] : sums[1];
  if constexpr (kSharing > 1) {
    __shared__ float parts[kGemvWarps][kRowsOfWarp];
    if (lane == 0) {
#pragma unroll
      for (int r = 0; r < kRowsOfWarp; ++r) parts[warp][r] = sums[r];
    }
    __syncthreads();
    if (part != 0) return;  // the whole warp returns
    sum = 0.0F;
#pragma unroll
    for (int other = 0; other < kSharing; ++other) sum += parts[warp + other][lane % kRowsOfWarp];
  }
  sum += upcast(bias);
  if (!args.gated) {
    if (adds) store_number(sum, args.output_type, args.output, first_row + lane);
    return;
  }
  const float other = __shfl_sync(0xFFFFFFFFU, sum, 1);
  if (lane != 0 || first_row >= args.rows) return;
  T gate;
  T up;
  narrow(sum, gate);
  narrow(other, up);
  static_cast<T*>(args.output)[first_row] = gated(args.activation, gate, up);
}

}  // namespace winnow::kernels::cuda
