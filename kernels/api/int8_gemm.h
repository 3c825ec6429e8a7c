// int8 GEMM: many quantised rows times a quantised matrix (block_types.h), multiplied as integers. int8_gemv.h for the rows of a prompt.
//
// Used by engine/layers for quantised matrices. Rows are quantised as in int8_gemv.h, to 8 bits with a scale per 32 elements, four rows to
// a tile. The matrix is unpacked a few columns at a time, once for all rows of a call. Knows no framework. References are
// kernels/reference/int8_gemm.cpp, the vectorised CPU versions kernels/cpu. Never throws, never allocates; calls for separate outputs are
// independent. kBadArgument: a missing pointer, a negative size, columns that are not a multiple of the type's block, or a type without an
// int8 GEMM.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/api/block_types.h"
#include "kernels/api/element_type.h"
#include "kernels/api/int8_gemv.h"

namespace winnow::kernels {

inline constexpr std::int64_t kTileRows = 4;
inline constexpr std::int64_t kTileAlignment = 4;  // bytes
inline constexpr std::int64_t kMatrixRows = 32;    // most that are multiplied together

// Bytes of kTileRows rows: codes, int8 [columns / 4][kTileRows][4]; QuantisedScale [columns / 32][kTileRows]; the sums of 16 codes each,
// int32 [columns / 16][kTileRows].
constexpr std::int64_t int8_tile_bytes(std::int64_t columns) { return 6 * columns; }

struct RoundTileArgs {
  const float* input = nullptr;  // [rows, columns]
  std::int64_t rows = 0;         // up to kTileRows; missing ones become zeros
  std::int64_t columns = 0;      // a multiple of 32
  std::byte* tile = nullptr;
};

LaunchStatus round_tile_reference(const RoundTileArgs& args);
// Equal to the reference to the bit.
LaunchStatus round_tile_cpu(const RoundTileArgs& args);

struct Int8GemmArgs {
  BlockType type = BlockType::kQ8_0;
  const void* matrix = nullptr;  // row-major, each row columns / block_elements blocks
  std::int64_t columns = 0;
  // Output r is the product with matrix row row_of[r]; null: row r.
  const std::int32_t* row_of = nullptr;
  std::int64_t begin = 0;  // outputs [begin, end) are computed
  std::int64_t end = 0;
  const std::byte* tiles = nullptr;  // contiguous, the last one padded
  std::int64_t inputs = 0;           // rows of input
  void* output = nullptr;            // input i, output r at [i * stride + r], of output_type
  std::int64_t stride = 0;
  ElementType output_type = ElementType::kFp32;
  float* sums = nullptr;  // [int8_gemm_sums(inputs)], this call's own workspace for partial sums
};

constexpr std::int64_t int8_gemm_sums(std::int64_t inputs) { return (inputs + kTileRows - 1) / kTileRows * kTileRows * kMatrixRows; }

LaunchStatus int8_gemm_reference(const Int8GemmArgs& args);
// Picks the widest instruction set at run time; equals the reference up to the rounding of sums in fp32 and then to the output's type.
LaunchStatus int8_gemm_cpu(const Int8GemmArgs& args);
// True if this processor multiplies bytes fast enough to beat dequantising the matrix and an fp32 GEMM. If it is false for every type,
// int8_gemm_cpu() is the reference.
bool int8_gemm_is_fast(BlockType type);

}  // namespace winnow::kernels
