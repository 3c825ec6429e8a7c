// One element of an array of any element type. Used by kernels/reference.
#pragma once

#include <cstdint>
#include <limits>

#include "kernels/api/element_type.h"
#include "kernels/reference/half.h"

namespace winnow::kernels {

inline double element(const void* array, ElementType type, std::int64_t index) {
  switch (type) {
    case ElementType::kFp32: return static_cast<const float*>(array)[index];
    case ElementType::kBf16: return bf16_to_float(static_cast<const std::uint16_t*>(array)[index]);
    case ElementType::kFp16: return fp16_to_float(static_cast<const std::uint16_t*>(array)[index]);
  }
  return std::numeric_limits<double>::quiet_NaN();
}

inline void set_element(void* array, ElementType type, std::int64_t index, float value) {
  switch (type) {
    case ElementType::kFp32: static_cast<float*>(array)[index] = value; return;
    case ElementType::kBf16: static_cast<std::uint16_t*>(array)[index] = float_to_bf16(value); return;
    case ElementType::kFp16: static_cast<std::uint16_t*>(array)[index] = float_to_fp16(value); return;
  }
}

// To the type and back.
inline double rounded(ElementType type, float value) {
  switch (type) {
    case ElementType::kFp32: return value;
    case ElementType::kBf16: return bf16_to_float(float_to_bf16(value));
    case ElementType::kFp16: return fp16_to_float(float_to_fp16(value));
  }
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace winnow::kernels
