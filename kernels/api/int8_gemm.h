// Many rows times a matrix whose numbers are stored in blocks (block_types.h), in integers: what int8_gemv.h does to one row, for
// the rows of a prompt.
//
// Used by engine/layers for packed matrices. The rows are rounded as there, to eight bits for every 32 elements, four rows at a time, into
// a tile of memory; the matrix is unpacked some columns at a time, once for all rows of a call. Knows no framework. References are
// kernels/reference/int8_gemm.cpp, the vectorised CPU versions kernels/cpu. Never throws, never allocates; calls on other outputs
// are independent of each other. kBadArgument: a missing pointer, a negative size, columns that are no multiple of the type's block, or a
// type without a product of rounded inputs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/api/block_types.h"
#include "kernels/api/element_type.h"
#include "kernels/api/int8_gemv.h"

namespace winnow::kernels {

inline constexpr std::int64_t kTileRows = 4;
inline constexpr std::int64_t kTileAlignment = 4;  // bytes
inline constexpr std::int64_t kMatrixRows = 32;    // that are multiplied at a time at the most

// Of kTileRows rows: codes, int8 [columns / 4][kTileRows][4]; QuantisedScale [columns / 32][kTileRows]; the sums of 16 codes each, int32
// [columns / 16][kTileRows].
constexpr std::int64_t int8_tile_bytes(std::int64_t columns) { return 6 * columns; }

struct RoundTileArgs {
  const float* input = nullptr;  // [rows, columns]
  std::int64_t rows = 0;         // up to kTileRows; those that are missing become zeros
  std::int64_t columns = 0;      // a multiple of 32
  std::byte* tile = nullptr;
};

LaunchStatus round_tile_reference(const RoundTileArgs& args);
// Equal to the reference to the bit.
LaunchStatus round_tile_cpu(const RoundTileArgs& args);

struct Int8GemmArgs {
  BlockType type = BlockType::kQ8_0;
  const void* matrix = nullptr;  // rows one after the other, each columns / block_elements blocks
  std::int64_t columns = 0;
  // Row i of the matrix is its row row_of[i]; null: row i.
  const std::int32_t* row_of = nullptr;
  std::int64_t begin = 0;  // rows [begin, end) of the matrix
  std::int64_t end = 0;
  const std::byte* tiles = nullptr;  // one after the other, the last one filled up
  std::int64_t inputs = 0;           // rows of input
  void* output = nullptr;            // of input i and row r of the matrix at [i * stride + r], elements of output_type
  std::int64_t stride = 0;
  ElementType output_type = ElementType::kFp32;
  float* sums = nullptr;  // [int8_gemm_sums(inputs)], of this call alone: what some columns come to, until the others are added
};

constexpr std::int64_t int8_gemm_sums(std::int64_t inputs) { return (inputs + kTileRows - 1) / kTileRows * kTileRows * kMatrixRows; }

LaunchStatus int8_gemm_reference(const Int8GemmArgs& args);
// Chooses the widest instruction set at run time; equal to the reference up to the rounding of sums in fp32 and then to the output's type.
LaunchStatus int8_gemm_cpu(const Int8GemmArgs& args);
// Whether this processor multiplies bytes fast enough for this to beat dequantising the matrix and multiplying in fp32. Where it does for
// no type, int8_gemm_cpu() is the reference.
bool int8_gemm_are_fast(BlockType type);

}  // namespace winnow::kernels
