// The device code of GEMVs with quantised matrices, for fp32 inputs and for types that keep the file's layout (others: tile_product.cuh);
// launched by block_gemv.cu, run on CPU threads in tests (tests/kernels/cuda_on_cpu.h).
//
// A warp computes two matrix rows. Adjacent threads take adjacent pieces of eight elements, so a warp's loads of a row are contiguous, and
// each input load serves both rows. Threads sum in fp32; the warp adds the sums in a fixed order: the same inputs give the same bits.
#pragma once

#include "kernels/api/cuda_block_gemv.h"
#include "kernels/cuda/block_pieces.cuh"
#include "kernels/cuda/element.cuh"
#include "kernels/cuda/overlap.cuh"
#include "kernels/cuda/warp.cuh"

namespace winnow::kernels::cuda {

constexpr int kProductWarps = 4;                       // of a thread block
constexpr int kWarpRows = 2;                           // of the matrix
constexpr int kBlockRows = kProductWarps * kWarpRows;  // that a thread block serves
constexpr int kLeastBlocks = 4;                        // per multiprocessor: with more, some architectures spill a sum or two
constexpr int kManyInputs = static_cast<int>(kMaxCudaProductInputs);
static_assert(kWarpRows * kManyInputs <= 32, "a thread writes one sum");

struct ProductLaunch {
  const Byte* matrix;
  const std::int32_t* row_of;
  const void* input;
  void* output;
  std::int64_t output_stride;
  int rows;
  int columns;
  int inputs;
  ElementType element;
};

// args have been checked.
inline ProductLaunch plan_launch(const CudaBlockGemvArgs& args) {
  return {static_cast<const Byte*>(args.matrix),
          args.row_of,
          args.input,
          args.output,
          args.output_stride,
          static_cast<int>(args.rows),
          static_cast<int>(args.columns),
          static_cast<int>(args.inputs),
          args.element};
}

// The matrix row of output `row`; past the end: any row.
template <class Type>
__device__ inline auto product_row(const ProductLaunch& args, int row) {
  const int inside = min(row, args.rows - 1);
  return matrix_row<Type>(args.matrix, args.rows, args.columns, args.row_of != nullptr ? args.row_of[inside] : inside);
}

// Thread blocks of a launch.
inline unsigned product_blocks(const CudaBlockGemvArgs& args) { return static_cast<unsigned>((args.rows + kBlockRows - 1) / kBlockRows); }

// kInputs: 1, or kManyInputs for any number up to it. Threads: 32 x kProductWarps; grid: product_blocks().
template <class Type, int kInputs>
__global__ void __launch_bounds__(32 * kProductWarps, kLeastBlocks) multiply_rows(ProductLaunch args) {
  let_next_begin();
  wait_for_earlier();
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int first_row = (static_cast<int>(blockIdx.x) * kProductWarps + static_cast<int>(threadIdx.x) / 32) * kWarpRows;
  if (first_row >= args.rows) return;  // the whole warp returns
  decltype(product_row<Type>(args, 0)) rows[kWarpRows];
#pragma unroll
  for (int r = 0; r < kWarpRows; ++r) rows[r] = product_row<Type>(args, first_row + r);

  float sums[kWarpRows][kInputs] = {};
  const int pieces = args.columns / kPiece;
#pragma unroll(kInputs == 1 ? 2 : 1)
  for (int piece = lane; piece < pieces; piece += 32) {
    const int column = piece * kPiece;
    float weights[kWarpRows][kPiece];
#pragma unroll
    for (int r = 0; r < kWarpRows; ++r) dequantise_piece<Type>(rows[r], column, weights[r]);
#pragma unroll
    for (int i = 0; i < kInputs; ++i) {
      if (i >= args.inputs) break;
      const Pack<float, kPiece> input =
          load_numbers<kPiece>(args.input, args.element, static_cast<std::int64_t>(i) * args.columns + column);
#pragma unroll
      for (int r = 0; r < kWarpRows; ++r) {
#pragma unroll
        for (int k = 0; k < kPiece; ++k) sums[r][i] = fmaf(weights[r][k], input.values[k], sums[r][i]);
      }
    }
  }

  float own = 0.0F;  // a thread writes one of the sums
#pragma unroll
  for (int r = 0; r < kWarpRows; ++r) {
#pragma unroll
    for (int i = 0; i < kInputs; ++i) {
      if (i >= args.inputs) break;
      const float sum = warp_sum(sums[r][i]);
      if (lane == r * kInputs + i) own = sum;
    }
  }
  const int row = first_row + lane / kInputs;
  const int input = lane % kInputs;
  if (lane < kWarpRows * kInputs && input < args.inputs && row < args.rows)
    store_number(own, args.element, args.output, input * args.output_stride + row);
}

}  // namespace winnow::kernels::cuda
