// The definition of correct: block by block, summed in double.
#include "kernels/api/block_gemv.h"

#include "kernels/reference/check_block_gemv.h"

namespace winnow::kernels {

LaunchStatus block_gemv_reference(const BlockGemvArgs& args) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  const std::int64_t block = block_elements(args.type);
  float values[kMaxBlockElements];
  for (std::int64_t row = args.begin; row < args.end; ++row) {
    const std::int64_t stored = args.row_of != nullptr ? args.row_of[row] : row;
    const auto* blocks = static_cast<const char*>(args.matrix) + stored * row_bytes(args.type, args.columns);
    double sum = 0.0;
    for (std::int64_t column = 0; column < args.columns; column += block, blocks += block_bytes(args.type)) {
      dequantise(args.type, blocks, block, values);
      for (std::int64_t i = 0; i < block; ++i) sum += static_cast<double>(values[i]) * static_cast<double>(args.input[column + i]);
    }
    args.output[row] = static_cast<float>(sum);
  }
  return LaunchStatus::kOk;
}

}  // namespace winnow::kernels
