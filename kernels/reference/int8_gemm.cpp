// The definition of correct: each row of a tile is an input of int8_gemv.h, whose definitions these are.
#include "kernels/api/int8_gemm.h"

#include "kernels/reference/check_products.h"
#include "kernels/reference/element.h"

namespace winnow::kernels {

LaunchStatus round_tile_reference(const RoundTileArgs& args) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  for (std::int64_t row = 0; row < kTileRows; ++row) {
    for (std::int64_t first = 0; first < args.columns; first += kQuantisedElements) {
      float zeros[kQuantisedElements] = {};
      std::int8_t codes[kQuantisedElements];
      std::int8_t paired[kQuantisedElements];
      QuantisedScale scale;
      float half_sums[2];
      const float* const input = row < args.rows ? args.input + row * args.columns + first : zeros;
      round_input_reference({input, kQuantisedElements, codes, &scale, half_sums, paired});
      for (std::int64_t i = 0; i < kQuantisedElements; ++i) {
        tile_codes(args.tile)[((first + i) / 4 * kTileRows + row) * 4 + i % 4] = codes[i];
      }
      tile_scales(args.tile, args.columns)[first / kQuantisedElements * kTileRows + row] = scale;
      for (std::int64_t half = 0; half < 2; ++half) {
        std::int32_t sum = 0;
        for (std::int64_t i = 16 * half; i < 16 * half + 16; ++i) sum += codes[i];
        tile_half_sums(args.tile, args.columns)[(first / 16 + half) * kTileRows + row] = sum;
      }
    }
  }
  return LaunchStatus::kOk;
}

LaunchStatus int8_gemm_reference(const Int8GemmArgs& args) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  const std::int64_t block = block_elements(args.type);
  float values[kMaxBlockElements];
  for (std::int64_t i = 0; i < args.inputs; ++i) {
    const std::byte* const tile = args.tiles + i / kTileRows * int8_tile_bytes(args.columns);
    const std::int64_t of_tile = i % kTileRows;
    for (std::int64_t row = args.begin; row < args.end; ++row) {
      const std::int64_t stored = args.row_of != nullptr ? args.row_of[row] : row;
      const auto* blocks = static_cast<const char*>(args.matrix) + stored * row_bytes(args.type, args.columns);
      double sum = 0.0;
      for (std::int64_t column = 0; column < args.columns; column += block, blocks += block_bytes(args.type)) {
        dequantise(args.type, blocks, block, values);
        for (std::int64_t k = column; k < column + block; ++k) {
          const double scale = tile_scales(tile, args.columns)[k / kQuantisedElements * kTileRows + of_tile].scale;
          const double code = tile_codes(tile)[(k / 4 * kTileRows + of_tile) * 4 + k % 4];
          sum += static_cast<double>(values[k - column]) * scale * code;
        }
      }
      set_element(args.output, args.output_type, i * args.stride + row, static_cast<float>(sum));
    }
  }
  return LaunchStatus::kOk;
}

}  // namespace winnow::kernels
