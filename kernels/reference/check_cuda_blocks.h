// The argument rules of GPU operators on quantised matrices, the same for every implementation; reads no device memory.
#pragma once

#include <cstdint>

#include "kernels/api/cuda_block_gemv.h"
#include "kernels/api/cuda_dequantise_rows.h"

namespace winnow::kernels {

inline bool is_aligned(const void* address) { return reinterpret_cast<std::uintptr_t>(address) % kCudaAlignment == 0; }

inline bool has_whole_pieces(BlockType type, std::int64_t columns) {
  return block_elements(type) != 0 && columns >= 1 && columns % block_elements(type) == 0 && columns % kCudaPieceElements == 0;
}

inline LaunchStatus check_arguments(const CudaBlockGemvArgs& args) {
  if (args.matrix == nullptr || args.input == nullptr || args.output == nullptr || !is_aligned(args.matrix) || !is_aligned(args.input) ||
      args.rows < 1 || args.inputs < 1 || args.output_stride < args.rows || !has_whole_pieces(args.type, args.columns) ||
      !is_known(args.element)) {
    return LaunchStatus::kBadArgument;
  }
  const bool counts = args.rows <= kMaxCudaMatrixSide && args.columns <= kMaxCudaMatrixSide && args.inputs <= kMaxCudaProductInputs;
  return counts ? LaunchStatus::kOk : LaunchStatus::kUnsupported;
}

inline LaunchStatus check_arguments(const CudaDequantiseRowsArgs& args) {
  if (args.matrix == nullptr || args.output == nullptr || !is_aligned(args.matrix) || !is_aligned(args.output) || args.rows < 1 ||
      args.count < 1 || args.first < 0 || (args.ids == nullptr && (args.first >= args.rows || args.count > args.rows - args.first)) ||
      !has_whole_pieces(args.type, args.columns) || !is_known(args.element)) {
    return LaunchStatus::kBadArgument;
  }
  const bool counts =
      args.rows <= kMaxCudaMatrixSide && args.columns <= kMaxCudaMatrixSide && args.count <= kMaxCudaDequantised / args.columns;
  return counts ? LaunchStatus::kOk : LaunchStatus::kUnsupported;
}

}  // namespace winnow::kernels
