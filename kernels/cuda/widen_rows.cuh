// The device code that widens rows of matrices in blocks; launched by widen_rows.cu, run on CPU threads in tests
// (tests/kernels/cuda_on_cpu.h).
//
// A thread widens a piece of eight neighbours and writes them together, neighbouring threads neighbouring pieces.
#pragma once

#include "kernels/api/cuda_widen_rows.h"
#include "kernels/cuda/block_pieces.cuh"
#include "kernels/cuda/element.cuh"

namespace winnow::kernels::cuda {

constexpr int kWidenThreads = 256;  // of a thread block

struct WidenLaunch {
  const Byte* matrix;
  const std::int32_t* row_of;
  const std::int32_t* column_of;
  const std::int64_t* ids;
  void* output;
  std::int64_t first;
  unsigned pieces;      // of all output rows
  unsigned row_pieces;  // of one
  int rows;
  ElementType element;
};

// args have been checked.
inline WidenLaunch plan_launch(const CudaWidenRowsArgs& args) {
  const std::int64_t row_pieces = args.columns / kPiece;
  return {static_cast<const Byte*>(args.matrix),
          args.row_of,
          args.column_of,
          args.ids,
          args.output,
          args.first,
          static_cast<unsigned>(args.count * row_pieces),
          static_cast<unsigned>(row_pieces),
          static_cast<int>(args.rows),
          args.element};
}

// Thread blocks of a launch.
inline unsigned widen_blocks(const CudaWidenRowsArgs& args) {
  return static_cast<unsigned>((args.count * (args.columns / kPiece) + kWidenThreads - 1) / kWidenThreads);
}

// Threads: kWidenThreads; grid: widen_blocks().
template <class Type>
__global__ void __launch_bounds__(kWidenThreads) widen_pieces(WidenLaunch args) {
  const unsigned piece = blockIdx.x * kWidenThreads + threadIdx.x;
  if (piece >= args.pieces) return;
  const unsigned to_row = piece / args.row_pieces;
  const int column = static_cast<int>(piece % args.row_pieces) * kPiece;
  const std::int64_t row = args.ids != nullptr ? args.ids[to_row] - args.first : args.first + to_row;
  if (row < 0 || row >= args.rows) return;
  const std::int64_t columns = static_cast<std::int64_t>(args.row_pieces) * kPiece;
  const Byte* stored = args.matrix + (args.row_of != nullptr ? args.row_of[row] : row) * (columns / Type::kElements * Type::kBytes);
  float values[kPiece];
  Type::widen(stored + static_cast<std::int64_t>(column / Type::kElements) * Type::kBytes, column % Type::kElements, values);
  if (args.column_of == nullptr) {
    store_numbers(values, args.element, args.output, to_row * columns + column);
    return;
  }
#pragma unroll
  for (int i = 0; i < kPiece; ++i) store_number(values[i], args.element, args.output, to_row * columns + args.column_of[column + i]);
}

}  // namespace winnow::kernels::cuda
