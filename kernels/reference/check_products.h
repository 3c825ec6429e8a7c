// The argument rules of products with matrices and of gated activation, the same for every implementation; those of GPU operators read no
// device memory.
#pragma once

#include <cstdint>

#include "kernels/api/block_gemv.h"
#include "kernels/api/cuda_block_gemv.h"
#include "kernels/api/cuda_dequantise_rows.h"
#include "kernels/api/cuda_gemv.h"
#include "kernels/api/dense_gemv.h"
#include "kernels/api/gated_activation.h"
#include "kernels/api/int8_gemm.h"
#include "kernels/api/int8_gemv.h"

namespace winnow::kernels {

inline constexpr std::int64_t kMaxBlockElements = 256;

inline LaunchStatus check_arguments(const BlockGemvArgs& args) {
  if (args.matrix == nullptr || args.input == nullptr || args.output == nullptr || args.columns < 0 || args.begin < 0 ||
      args.end < args.begin || args.inputs < 0 || block_elements(args.type) == 0 || args.columns % block_elements(args.type) != 0) {
    return LaunchStatus::kBadArgument;
  }
  return LaunchStatus::kOk;
}

inline std::int64_t row_bytes(BlockType type, std::int64_t columns) { return columns / block_elements(type) * block_bytes(type); }

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

inline LaunchStatus check_arguments(const DenseGemvArgs& args) {
  if (args.matrix == nullptr || args.input == nullptr || args.output == nullptr || args.columns < 0 || args.begin < 0 ||
      args.end < args.begin || args.inputs < 0 || !is_known(args.type)) {
    return LaunchStatus::kBadArgument;
  }
  return LaunchStatus::kOk;
}

inline LaunchStatus check_arguments(const RoundInputArgs& args) {
  const bool good = args.input != nullptr && args.codes != nullptr && args.scales != nullptr && args.half_sums != nullptr &&
                    args.paired != nullptr && args.columns >= 0 && args.columns % kQuantisedElements == 0;
  return good ? LaunchStatus::kOk : LaunchStatus::kBadArgument;
}

inline LaunchStatus check_arguments(const Int8GemvArgs& args) {
  const bool good = args.matrix != nullptr && args.output != nullptr && args.input.codes != nullptr && args.input.scales != nullptr &&
                    args.input.half_sums != nullptr && args.input.paired != nullptr && args.columns >= 0 && args.begin >= 0 &&
                    args.end >= args.begin && args.inputs >= 0 && has_int8_gemv(args.type) && args.columns % block_elements(args.type) == 0;
  return good ? LaunchStatus::kOk : LaunchStatus::kBadArgument;
}

inline LaunchStatus check_arguments(const RoundTileArgs& args) {
  const bool good = args.input != nullptr && args.tile != nullptr && args.rows > 0 && args.rows <= kTileRows && args.columns >= 0 &&
                    args.columns % kQuantisedElements == 0;
  return good ? LaunchStatus::kOk : LaunchStatus::kBadArgument;
}

inline LaunchStatus check_arguments(const Int8GemmArgs& args) {
  const bool good = args.matrix != nullptr && args.tiles != nullptr && args.output != nullptr && args.columns >= 0 && args.begin >= 0 &&
                    args.end >= args.begin && args.inputs >= 0 && args.stride >= args.end && args.sums != nullptr &&
                    is_known(args.output_type) && has_int8_gemv(args.type) && args.columns % block_elements(args.type) == 0;
  return good ? LaunchStatus::kOk : LaunchStatus::kBadArgument;
}

inline std::int8_t* tile_codes(std::byte* tile) { return reinterpret_cast<std::int8_t*>(tile); }
inline const std::int8_t* tile_codes(const std::byte* tile) { return reinterpret_cast<const std::int8_t*>(tile); }
inline QuantisedScale* tile_scales(std::byte* tile, std::int64_t columns) {
  return reinterpret_cast<QuantisedScale*>(tile + kTileRows * columns);
}
inline const QuantisedScale* tile_scales(const std::byte* tile, std::int64_t columns) {
  return reinterpret_cast<const QuantisedScale*>(tile + kTileRows * columns);
}
inline std::int32_t* tile_half_sums(std::byte* tile, std::int64_t columns) { return reinterpret_cast<std::int32_t*>(tile + 5 * columns); }
inline const std::int32_t* tile_half_sums(const std::byte* tile, std::int64_t columns) {
  return reinterpret_cast<const std::int32_t*>(tile + 5 * columns);
}
static_assert(kTileRows * (32 + sizeof(QuantisedScale) + 2 * sizeof(std::int32_t)) == int8_tile_bytes(32));

inline bool is_known(Activation activation) {
  switch (activation) {
    case Activation::kSilu:
    case Activation::kGelu:
    case Activation::kGeluTanh:
    case Activation::kQuickGelu:
    case Activation::kRelu: return true;
  }
  return false;
}

inline LaunchStatus check_arguments(const GatedActivationArgs& args) {
  if (args.gate == nullptr || args.up == nullptr || args.output == nullptr || args.rows < 0 || args.columns < 0 ||
      args.stride < args.columns || !is_known(args.type) || !is_known(args.activation)) {
    return LaunchStatus::kBadArgument;
  }
  if (args.columns > kMaxGatedColumns || args.rows > kMaxGatedRows) return LaunchStatus::kUnsupported;
  return LaunchStatus::kOk;
}

inline LaunchStatus check_arguments(const CudaGemvArgs& args) {
  const auto is_aligned_row = [](const void* address) { return reinterpret_cast<std::uintptr_t>(address) % kGemvAlignment == 0; };
  if (!is_known(args.type) || !is_known(args.output_type) || args.matrix == nullptr || args.input == nullptr || args.output == nullptr ||
      args.rows < 1 || args.columns < 1) {
    return LaunchStatus::kBadArgument;
  }
  const std::int64_t at_once = kGemvAlignment / (args.type == ElementType::kFp32 ? 4 : 2);
  if (!is_aligned_row(args.matrix) || !is_aligned_row(args.input) || args.columns % at_once != 0 ||
      (args.output_type != args.type && (args.gated || args.output_type != ElementType::kFp32)) || (args.gated && !is_known(*args.gated))) {
    return LaunchStatus::kBadArgument;
  }
  const bool counts = args.rows <= kMaxGemvSide && args.columns <= kMaxGemvSide;
  return counts ? LaunchStatus::kOk : LaunchStatus::kUnsupported;
}

}  // namespace winnow::kernels
