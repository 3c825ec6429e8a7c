// Scalar widening of 16-bit floats to fp32, exact; bits in, value out. Used by kernels/reference and by tests.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace winnow::kernels {

inline float bf16_to_float(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

// IEEE binary16: 1 sign, 5 exponent (bias 15), 10 fraction bits; subnormals, infinities and NaN included.
inline float fp16_to_float(std::uint16_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1FU;
  const std::uint32_t fraction = bits & 0x3FFU;
  if (exponent == 0) {
    const float magnitude = std::ldexp(static_cast<float>(fraction), -24);
    return sign != 0 ? -magnitude : magnitude;
  }
  const std::uint32_t wide_exponent = exponent == 31 ? 255U : exponent + 112U;
  return std::bit_cast<float>(sign | (wide_exponent << 23) | (fraction << 13));
}

}  // namespace winnow::kernels
