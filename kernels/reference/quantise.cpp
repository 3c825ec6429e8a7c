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

// std::nearbyint() of what is a code, and beyond all codes of what is beyond them. It is a call on processors of the base line, and loops
// around calls do not vectorise.
float nearest(float value) {
  constexpr float kWholeNumbers = 0x1.8p23F;  // floats around it have steps of one
  return value + kWholeNumbers - kWholeNumbers;
}

// The extremes of a block, and whether it is finite. Its halves are folded, for the compiler may not change the order of such sums.
struct Extremes {
  explicit Extremes(const float* values) {
    constexpr std::int64_t kHalf = kElements / 2;
    float low[kHalf], high[kHalf], nothing[kHalf];
    for (std::int64_t i = 0; i < kHalf; ++i) {
      low[i] = lower(values[i], values[i + kHalf]);
      high[i] = higher(values[i], values[i + kHalf]);
      nothing[i] = values[i] * 0.0F + values[i + kHalf] * 0.0F;  // NaN where one is not finite
    }
    for (std::int64_t half = kHalf / 2; half > 0; half /= 2) {
      for (std::int64_t i = 0; i < half; ++i) {
        low[i] = lower(low[i], low[i + half]);
        high[i] = higher(high[i], high[i + half]);
        nothing[i] += nothing[i + half];
      }
    }
    smallest = low[0];
    largest = high[0];
    finite = nothing[0] == 0.0F;
    if (smallest != 0.0F && largest != 0.0F) [[likely]]
      return;
    // Zeros have two signs, of which the order of elements decides.
    const auto [first, last] = std::minmax_element(values, values + kElements);
    smallest = *first;
    largest = *last;
  }
  static float lower(float one, float other) { return other < one ? other : one; }
  static float higher(float one, float other) { return other > one ? other : one; }

  float smallest = 0.0F;
  float largest = 0.0F;
  bool finite = true;
};

bool quantize_q8_0(const float* values, const Extremes& extremes, std::uint8_t* block) {
  const Half scale(std::max(std::abs(extremes.smallest), std::abs(extremes.largest)) / 127.0F);
  if (!std::isfinite(scale.value)) return false;
  std::memcpy(block, &scale.bits, sizeof scale.bits);
  const float inverse = steps(scale.value);
  for (std::int64_t i = 0; i < kElements; ++i) {
    const float code = std::clamp(nearest(values[i] * inverse), -127.0F, 127.0F);
    block[2 + i] = static_cast<std::uint8_t>(static_cast<std::int32_t>(code));
  }
  return true;
}

bool quantize_q4_1(const float* values, const Extremes& extremes, std::uint8_t* block) {
  const Half offset(extremes.smallest);
  const Half scale((extremes.largest - offset.value) / 15.0F);
  if (!std::isfinite(scale.value) || !std::isfinite(offset.value)) return false;
  std::memcpy(block, &scale.bits, sizeof scale.bits);
  std::memcpy(block + 2, &offset.bits, sizeof offset.bits);
  const float inverse = steps(scale.value);
  const auto code = [&](std::int64_t i) {
    return static_cast<std::int32_t>(std::clamp(nearest((values[i] - offset.value) * inverse), 0.0F, 15.0F));
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
    const Extremes extremes(values);
    if (!extremes.finite) return LaunchStatus::kUnsupported;
    const bool fits = args.type == BlockType::kQ8_0 ? quantize_q8_0(values, extremes, block) : quantize_q4_1(values, extremes, block);
    if (!fits) return LaunchStatus::kUnsupported;
  }
  return LaunchStatus::kOk;
}

}  // namespace winnow::kernels
