#include "kernels/api/quantise.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/reference/half.h"

namespace winnow::kernels {
namespace {

constexpr std::int64_t kElements = 32;

// The nearest fp16 value as bits and as a float.
struct Half {
  explicit Half(float wanted) : bits(float_to_fp16(wanted)), value(fp16_to_float(bits)) {}
  std::uint16_t bits;
  float value;
};

// Steps in one unit of a stored 16-bit scale: steps of zero have no codes but zero.
float steps(float scale) { return scale > 0.0F ? 1.0F / scale : 0.0F; }

bool quantize_q8_0(const float* values, std::uint8_t* block) {
  float largest = 0.0F;
  for (std::int64_t i = 0; i < kElements; ++i) largest = std::max(largest, std::abs(values[i]));
  const Half scale(largest / 127.0F);
  if (!std::isfinite(scale.value)) return false;
  std::memcpy(block, &scale.bits, sizeof scale.bits);
  const float inverse = steps(scale.value);
  for (std::int64_t i = 0; i < kElements; ++i) {
    const float code = std::clamp(std::nearbyint(values[i] * inverse), -127.0F, 127.0F);
    block[2 + i] = static_cast<std::uint8_t>(static_cast<std::int8_t>(code));
  }
  return true;
}

bool quantize_q4_1(const float* values, std::uint8_t* block) {
  const auto [smallest, largest] = std::minmax_element(values, values + kElements);
  const Half offset(*smallest);
  const Half scale((*largest - offset.value) / 15.0F);
  if (!std::isfinite(scale.value) || !std::isfinite(offset.value)) return false;
  std::memcpy(block, &scale.bits, sizeof scale.bits);
  std::memcpy(block + 2, &offset.bits, sizeof offset.bits);
  const float inverse = steps(scale.value);
  const auto code = [&](std::int64_t i) {
    return static_cast<unsigned>(std::clamp(std::nearbyint((values[i] - offset.value) * inverse), 0.0F, 15.0F));
  };
  for (std::int64_t i = 0; i < kElements / 2; ++i) block[4 + i] = static_cast<std::uint8_t>(code(i) | code(i + kElements / 2) << 4);
  return true;
}

}  // namespace

LaunchStatus quantise(const QuantiseArgs& args) {
  if (args.values == nullptr || args.blocks == nullptr || args.elements < 0 || args.elements % kElements != 0)
    return LaunchStatus::kBadArgument;
  if (args.type != BlockType::kQ8_0 && args.type != BlockType::kQ4_1) return LaunchStatus::kUnsupported;
  auto* block = static_cast<std::uint8_t*>(args.blocks);
  for (std::int64_t first = 0; first < args.elements; first += kElements, block += block_bytes(args.type)) {
    const float* const values = args.values + first;
    float nothing = 0.0F;
    for (std::int64_t i = 0; i < kElements; ++i) nothing += values[i] * 0.0F;  // NaN where one is not finite
    if (nothing != 0.0F || std::isnan(nothing)) return LaunchStatus::kUnsupported;
    if (!(args.type == BlockType::kQ8_0 ? quantize_q8_0(values, block) : quantize_q4_1(values, block))) return LaunchStatus::kUnsupported;
  }
  return LaunchStatus::kOk;
}

}  // namespace winnow::kernels
