// The element types as files of kernels/cpu take them in loops that become vector code: what lies in memory, and fp32 from it and
// back, rounded to nearest and even.
#pragma once

#include <cstdint>

#include "kernels/reference/half.h"

namespace winnow::kernels {

struct StoredFp32 {
  using Memory = float;
  static float upcast(float number) { return number; }
  static float narrow(float number) { return number; }
};

struct StoredBf16 {
  using Memory = std::uint16_t;
  static float upcast(std::uint16_t number) { return bf16_to_float(number); }
  static std::uint16_t narrow(float number) { return float_to_bf16(number); }
};

struct StoredFp16 {
  using Memory = std::uint16_t;
  static float upcast(std::uint16_t number) { return fp16_to_float(number); }
  static std::uint16_t narrow(float number) { return float_to_fp16(number); }
};

}  // namespace winnow::kernels
