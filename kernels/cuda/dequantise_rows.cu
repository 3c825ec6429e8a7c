// Rows of quantised matrices dequantised: device code and launch. Tests run both on CPU threads, too (tests/kernels/cuda_on_cpu.h).
//
// A thread dequantises eight adjacent elements and writes them together; adjacent threads write adjacent pieces. Of interleaved blocks it
// dequantises the pieces of all groups that it loads at a time (interleaved_blocks.cuh): four adjacent threads write four groups in turn.
#include "kernels/api/cuda_dequantise_rows.h"
#include "kernels/cuda/block_pieces.cuh"
#include "kernels/cuda/element.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/reference/check_products.h"

namespace winnow::kernels::cuda {

constexpr int kDequantiseThreads = 256;  // of a thread block

struct DequantiseLaunch {
  const Byte* matrix;
  const std::int32_t* row_of;
  const std::int32_t* column_of;
  const std::int64_t* ids;
  void* output;
  std::int64_t first;
  std::int64_t count;
  int columns;
  int rows;
  ElementType element;
};

// args have been checked.
inline DequantiseLaunch plan_launch(const CudaDequantiseRowsArgs& args) {
  return {static_cast<const Byte*>(args.matrix),
          args.row_of,
          args.column_of,
          args.ids,
          args.output,
          args.first,
          args.count,
          static_cast<int>(args.columns),
          static_cast<int>(args.rows),
          args.element};
}

// Threads that dequantise a row.
template <class Type>
__host__ __device__ constexpr unsigned row_threads(int columns) {
  if constexpr (kIsInterleaved<Type>)
    return static_cast<unsigned>((columns / kGroup + Type::kTogether - 1) / Type::kTogether * kGroupPieces);
  return static_cast<unsigned>(columns / kPiece);
}

// Thread blocks of a launch.
template <class Type>
unsigned dequantise_blocks(const CudaDequantiseRowsArgs& args) {
  const std::int64_t threads = args.count * row_threads<Type>(static_cast<int>(args.columns));
  return static_cast<unsigned>((threads + kDequantiseThreads - 1) / kDequantiseThreads);
}

// The source of output row `to_row` from `column` on.
__device__ inline void put_numbers(const DequantiseLaunch& args, const float (&values)[kPiece], unsigned to_row, int column) {
  const std::int64_t row = static_cast<std::int64_t>(to_row) * args.columns;
  if (args.column_of == nullptr) {
    store_numbers(values, args.element, args.output, row + column);
    return;
  }
#pragma unroll
  for (int i = 0; i < kPiece; ++i) store_number(values[i], args.element, args.output, row + args.column_of[column + i]);
}

// Threads: kDequantiseThreads; grid: dequantise_blocks().
template <class Type>
__global__ void __launch_bounds__(kDequantiseThreads) dequantise_pieces(DequantiseLaunch args) {
  const unsigned thread = blockIdx.x * kDequantiseThreads + threadIdx.x;
  const unsigned of_row = row_threads<Type>(args.columns);
  const unsigned to_row = thread / of_row;
  if (to_row >= args.count) return;
  const int piece = static_cast<int>(thread % of_row);
  const std::int64_t row = args.ids != nullptr ? args.ids[to_row] - args.first : args.first + to_row;
  if (row < 0 || row >= args.rows) return;
  const auto stored = matrix_row<Type>(args.matrix, args.rows, args.columns, args.row_of != nullptr ? args.row_of[row] : row);
  float values[kPiece];
  if constexpr (kIsInterleaved<Type>) {
    const int first = piece / kGroupPieces * Type::kTogether;
    const int quarter = piece % kGroupPieces;
    const int count = min(Type::kTogether, stored.groups - first);
    const Pieces<Type> pieces = load_pieces<Type>(stored, first, count, quarter);
#pragma unroll
    for (int i = 0; i < Type::kTogether; ++i) {
      if (i >= count) break;
      const int column = (first + i) * kGroup + quarter * kPiece;
      dequantise_codes<Type>(pieces[i], Type::scale(stored, column), values);
      put_numbers(args, values, to_row, column);
    }
  } else {
    dequantise_piece<Type>(stored, piece * kPiece, values);
    put_numbers(args, values, to_row, piece * kPiece);
  }
}

}  // namespace winnow::kernels::cuda

namespace winnow::kernels {

LaunchStatus cuda_dequantise_rows(const CudaDequantiseRowsArgs& args, void* stream) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  const cuda::DequantiseLaunch launch = cuda::plan_launch(args);
  cuda::with_block_type(args.type, [&](auto type) {
    using Type = decltype(type);
    cuda::launch_kernel(cuda::dequantise_pieces<Type>, cuda::dequantise_blocks<Type>(args), cuda::kDequantiseThreads, stream, launch);
  });
  return cuda::launch_status();
}

}  // namespace winnow::kernels
