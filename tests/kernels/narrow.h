// fp32 to 16 bits and into arrays of any element type, for tests.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/api/element_type.h"

namespace winnow::kernels::testing {

inline constexpr ElementType kEveryElementType[] = {ElementType::kFp32, ElementType::kBf16, ElementType::kFp16};

inline std::size_t element_bytes(ElementType type) { return type == ElementType::kFp32 ? 4 : 2; }

// Round to nearest even; inputs are finite and in the normal range of the narrow type.
inline std::uint16_t to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16);
}
inline std::uint16_t to_fp16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  const std::uint32_t sign = (bits >> 16) & 0x8000U;
  if (magnitude < 0x38800000U) {  // below 2^-14: subnormal, a multiple of 2^-24
    return static_cast<std::uint16_t>(sign | static_cast<std::uint32_t>(std::lrint(std::ldexp(std::bit_cast<float>(magnitude), 24))));
  }
  const std::uint32_t rounded = magnitude + 0xFFFU + ((magnitude >> 13) & 1U);
  return static_cast<std::uint16_t>(sign | ((rounded - 0x38000000U) >> 13));
}

inline void put(std::byte* array, ElementType type, std::int64_t index, float value) {
  if (type == ElementType::kFp32) {
    std::memcpy(array + index * 4, &value, 4);
    return;
  }
  const std::uint16_t narrow = type == ElementType::kBf16 ? to_bf16(value) : to_fp16(value);
  std::memcpy(array + index * 2, &narrow, 2);
}

}  // namespace winnow::kernels::testing
