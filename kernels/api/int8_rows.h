// Rows of numbers in eight bits, and back: a row is a signed byte for every number, its code, and one scale for all of them.
//
// Symmetric: the scale is the row's largest magnitude in 127 steps, a code the nearest number of steps, -127 to 127, ties to even. The
// scale keeps 17 bits of fraction and leading one, so that code times scale is exact in fp32 and rounding what was rounded changes nothing,
// also after it was a 16-bit number in between. A row of zeros has scale 0; one with a number that is not finite has scale NaN, so that
// everything it takes part in shows it.
// A row may be stored without a known offset (the bias of a key, rotated to its position), which reading adds again: what is left has a
// smaller scale where the offset is most of the row. A row that gains less than kLeastGain by it keeps its offset.
// Used by engine/kv_cache; decode attention reads such rows in place (decode_attention.h). The definition is
// kernels/reference/int8_rows.cpp, whose loops are vector code. Never throws, never allocates; calls on different rows are independent.
// kBadArgument: a missing pointer, a size below 1 or an unknown type. kUnsupported: rows longer than kMaxHeadDim.
#pragma once

#include <cstdint>

#include "kernels/api/element_type.h"

namespace winnow::kernels {

// Of one row that is to be stored, so many bytes.
constexpr std::int64_t narrow_row_bytes(std::int64_t length) { return length + static_cast<std::int64_t>(sizeof(float)); }

// By how much a row's scale must shrink for its offset to be taken away: a third of a bit.
inline constexpr float kLeastGain = 1.25F;

struct Int8RowsArgs {
  ElementType type = ElementType::kFp32;
  const void* values = nullptr;   // [rows, length]
  std::int64_t value_stride = 0;  // from row to row, in elements
  std::int64_t rows = 0;
  std::int64_t length = 0;
  std::int8_t* codes = nullptr;    // [rows, length]
  float* scales = nullptr;         // [rows]
  const float* offsets = nullptr;  // [rows, length] fp32, contiguous; null: none
  std::uint8_t* taken = nullptr;   // [rows], with offsets: 1 where the row's was taken away, else 0
};

struct DequantiseRowsArgs {
  const std::int8_t* codes = nullptr;  // [rows, length]
  const float* scales = nullptr;       // [rows]
  std::int64_t rows = 0;
  std::int64_t length = 0;
  ElementType type = ElementType::kFp32;
  void* values = nullptr;          // [rows, length], each rounded to the type
  std::int64_t value_stride = 0;   // from row to row, in elements
  const float* offsets = nullptr;  // [rows, length] fp32, contiguous, added in fp32 before rounding; null: none
};

LaunchStatus int8_rows(const Int8RowsArgs& args);
LaunchStatus dequantise_rows(const DequantiseRowsArgs& args);

}  // namespace winnow::kernels
