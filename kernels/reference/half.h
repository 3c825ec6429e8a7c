// Scalar widening of 16-bit floats to fp32, exact, and rounding to fp16; bits in or out. Used by kernels/reference and by tests.
#pragma once

#include <bit>
#include <cstdint>

namespace winnow::kernels {

inline float bf16_to_float(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

// IEEE binary16: 1 sign, 5 exponent (bias 15), 10 fraction bits; subnormals, infinities and NaN included. Both forms of the magnitude are
// computed and a mask takes one, so that loops over it become vector code. A subnormal number is the fraction of 2^-14, less 2^-14.
inline float fp16_to_float(std::uint16_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16;
  const std::uint32_t magnitude = static_cast<std::uint32_t>(bits & 0x7FFFU) << 13;
  const std::uint32_t normal = magnitude + (magnitude >= (31U << 23) ? 224U << 23 : 112U << 23);
  const float least_normal = std::bit_cast<float>(113U << 23);
  const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude + (113U << 23)) - least_normal);
  const std::uint32_t small = 0U - static_cast<std::uint32_t>(magnitude < (1U << 23));
  return std::bit_cast<float>(sign | (normal & ~small) | (subnormal & small));
}

// To the nearest, ties to the even one; what is too large becomes infinity.
inline std::uint16_t float_to_fp16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16 & 0x8000U;
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  if (magnitude > 255U << 23) return static_cast<std::uint16_t>(sign | 0x7E00U);
  if (magnitude >= (127U + 16U) << 23) return static_cast<std::uint16_t>(sign | 0x7C00U);
  // A subnormal number of 16 bits is a multiple of 2^-24: adding a half of which this is the last place rounds to it.
  if (magnitude < 113U << 23) {
    const float rounded = std::bit_cast<float>(magnitude) + 0.5F;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(rounded) - (126U << 23)));
  }
  const std::uint32_t rounded = magnitude + 0xFFFU + (magnitude >> 13 & 1U);
  return static_cast<std::uint16_t>(sign | ((rounded >> 13) - (112U << 10)));  // may carry into infinity
}

}  // namespace winnow::kernels
