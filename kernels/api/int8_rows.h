// Quantises rows to int8 and back: a signed byte (code) for every element, and one scale a row.
//
// Symmetric: the scale is the row's largest magnitude / 127; a code is the nearest multiple, -127 to 127, ties to even. The scale keeps 17
// significant bits, so code * scale is exact in fp32. Quantising a dequantised row therefore changes nothing, even if it was a 16-bit type
// in between. A row of zeros has scale 0. A row with a NaN or infinite element has scale NaN, so the damage shows.
// A row may be stored without a known offset (the key bias, rotated to its position), which reading adds again: where the offset is most of
// the row, the rest has a smaller scale. A row whose scale shrinks by less than kLeastGain keeps its offset.
// Used by engine/kv_cache; decode attention reads such rows in place (decode_attention.h). The definition is
// kernels/reference/int8_rows.cpp, whose loops are vectorised. Never throws, never allocates; calls on different rows are independent.
// kBadArgument: a missing pointer, a size below 1 or an unknown type. kUnsupported: rows longer than kMaxHeadDim.
#pragma once

#include <cstdint>

#include "kernels/api/element_type.h"

namespace winnow::kernels {

// Bytes of one stored row.
constexpr std::int64_t narrow_row_bytes(std::int64_t length) { return length + static_cast<std::int64_t>(sizeof(float)); }

// How much a row's scale must shrink for its offset to be subtracted: a third of a bit.
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
  std::uint8_t* taken = nullptr;   // [rows], with offsets: 1 if the row's was subtracted, else 0
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
