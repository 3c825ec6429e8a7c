// The definition of correct: stored values times rounded elements, summed in double.
#include "kernels/api/int8_gemv.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/reference/check_products.h"

namespace winnow::kernels {
namespace {

// The largest magnitude of 32 elements; NaN or infinity if one of them is not finite.
float largest_of(const float* input) {
  float largest = 0.0F;
  for (std::int64_t i = 0; i < kQuantisedElements; ++i) {
    if (!std::isfinite(input[i])) return std::numeric_limits<float>::quiet_NaN();
    largest = std::max(largest, std::abs(input[i]));
  }
  return largest;
}

}  // namespace

LaunchStatus round_input_reference(const RoundInputArgs& args) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  for (std::int64_t first = 0; first < args.columns; first += kQuantisedElements) {
    const float scale = largest_of(args.input + first) / 127.0F;
    const float steps = scale > 0.0F ? 1.0F / scale : 0.0F;  // scale may be NaN
    const bool codes = std::isfinite(steps) && steps > 0.0F;
    int whole = 0;
    for (std::int64_t half = 0; half < 2; ++half) {
      int sum = 0;
      for (std::int64_t i = first + half * 16; i < first + half * 16 + 16; ++i) {
        // To the nearest, of two the even one, as processors do.
        const int code = codes ? std::clamp(static_cast<int>(std::nearbyint(args.input[i] * steps)), -127, 127) : 0;
        args.codes[i] = static_cast<std::int8_t>(code);
        sum += code;
      }
      args.half_sums[first / 16 + half] = scale * static_cast<float>(sum);
      whole += sum;
    }
    args.scales[first / kQuantisedElements] = {scale, scale * static_cast<float>(whole)};
  }
  for (std::int64_t first = 0; first + 64 <= args.columns; first += 64) {
    for (std::int64_t i = 0; i < 64; ++i) {
      const std::int64_t quarter = i / 16 == 1 ? 2 : i / 16 == 2 ? 1 : i / 16;
      args.paired[first + quarter * 16 + i % 16] = args.codes[first + i];
    }
  }
  return LaunchStatus::kOk;
}

bool has_int8_gemv(BlockType type) {
  switch (type) {
    case BlockType::kQ8_0:
    case BlockType::kQ4_0:
    case BlockType::kQ4_1:
    case BlockType::kQ5_0:
    case BlockType::kQ5_1:
    case BlockType::kQ4_K:
    case BlockType::kQ5_K:
    case BlockType::kQ6_K:
    case BlockType::kU4Z:
    case BlockType::kU8Z: return true;
    default: return false;
  }
}

LaunchStatus int8_gemv_reference(const Int8GemvArgs& args) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  const std::int64_t block = block_elements(args.type);
  float values[kMaxBlockElements];
  for (std::int64_t row = args.begin; row < args.end; ++row) {
    const std::int64_t stored = args.row_of != nullptr ? args.row_of[row] : row;
    const auto* const blocks = static_cast<const char*>(args.matrix) + stored * row_bytes(args.type, args.columns);
    for (std::int64_t index = 0; index < args.inputs; ++index) {
      const QuantisedInput input = args.input_at(index);
      const auto* from = blocks;
      double sum = 0.0;
      for (std::int64_t column = 0; column < args.columns; column += block, from += block_bytes(args.type)) {
        dequantise(args.type, from, block, values);
        for (std::int64_t i = 0; i < block; ++i) {
          const double element = static_cast<double>(input.scales[(column + i) / kQuantisedElements].scale) * input.codes[column + i];
          sum += static_cast<double>(values[i]) * element;
        }
      }
      args.output[index * args.output_stride + row] = static_cast<float>(sum);
    }
  }
  return LaunchStatus::kOk;
}

}  // namespace winnow::kernels
