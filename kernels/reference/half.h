// Scalar upcasting of 16-bit floats to fp32, exact, and rounding to them, to nearest and even; bits in, value out and the other way. Used
// by kernels/reference, the last step of kernels/cpu/prefill_attention.cpp and tests.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace winnow::kernels {

inline float bf16_to_float(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

// IEEE binary16: 1 sign, 5 exponent (bias 15), 10 fraction bits; subnormals, infinities and NaN included. Both forms of the magnitude are
// computed and a mask takes one, so that loops over it vectorise. A subnormal value is the fraction of 2^-14, less 2^-14.
inline float fp16_to_float(std::uint16_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16;
  const std::uint32_t magnitude = static_cast<std::uint32_t>(bits & 0x7FFFU) << 13;
  const std::uint32_t normal = magnitude + (magnitude >= (31U << 23) ? 224U << 23 : 112U << 23);
  const float least_normal = std::bit_cast<float>(113U << 23);
  const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude + (113U << 23)) - least_normal);
  const std::uint32_t small = 0U - static_cast<std::uint32_t>(magnitude < (1U << 23));
  return std::bit_cast<float>(sign | (normal & ~small) | (subnormal & small));
}

inline std::uint16_t float_to_bf16(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return 0x7FC0;
  return static_cast<std::uint16_t>((bits + 0x7FFFU + (bits >> 16 & 1U)) >> 16);
}

inline std::uint16_t float_to_fp16(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint32_t>(bits >> 16 & 0x8000U);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  if (magnitude > 0x7F800000U) return static_cast<std::uint16_t>(sign | 0x7E00U);
  if (magnitude >= 0x47800000U) return static_cast<std::uint16_t>(sign | 0x7C00U);  // 2^16 and more
  if (magnitude < 0x38800000U) {                                                    // subnormal: the sum with 0.5 has steps of 2^-24
    const float steps = std::bit_cast<float>(magnitude) + 0.5F;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(steps) - 0x3F000000U));
  }
  // A carry out of the fraction goes on into the exponent, and from the largest value to infinity.
  return static_cast<std::uint16_t>(sign | ((magnitude - 0x38000000U + 0xFFFU + (magnitude >> 13 & 1U)) >> 13));
}

}  // namespace winnow::kernels
