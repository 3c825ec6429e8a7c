// Quantises rows to 8 or 4 bits and back: codes and scales.
//
// kInt8: a signed byte (code) for every element and one fp32 scale a row, the row's largest magnitude / 127; codes are -127 to 127. The
// scale keeps 17 significant bits, so code * scale is exact in fp32. kInt4: the row is rotated first (rotate_row()), which spreads what
// stands out in few elements over all. Every kScaleSpan elements have a bf16 scale, the element that is furthest from 0 / -8, and 4-bit
// codes, -8 to 7. A span's first half has the low bits of its bytes, the second the high bits, each code plus 8. Products of code and scale
// have 11 bits at most, and those of code -8 eight. Codes are the nearest multiples, ties to even. Quantising a dequantised row changes
// nothing: in 8 bits even if it was a 16-bit type in between, in 4 bits if it was fp32. Zeros have scale 0. A NaN or infinite element makes
// its scale (in 4 bits, all scales of the row) NaN, so the damage shows. A row may be stored without a known offset (the key bias, rotated
// to its position), which reading adds again: where the offset is most of the row, the rest has a smaller scale. A row whose largest
// magnitude shrinks by less than kLeastGain keeps its offset. Used by engine/kv_cache; decode attention reads such rows in place
// (decode_attention.h). The definition is kernels/reference/narrow_rows.cpp, whose loops are vectorised. Never throws, never allocates;
// calls on different rows are independent. kBadArgument: a missing pointer, a size below 1 or an unknown type. kUnsupported: rows longer
// than kMaxHeadDim. Rotated 4 bits: QuaRot, arXiv 2404.00456; blocks of 32 with the furthest element at -8: llama.cpp's Q4_0.
#pragma once

#include <cstdint>

#include "kernels/api/element_type.h"

namespace winnow::kernels {

enum class RowCodes : int { kInt8 = 1, kInt4 = 2 };

inline constexpr std::int64_t kScaleSpan = 32;  // in 4 bits; a row's last span may be shorter

// Bytes of one stored row.
constexpr std::int64_t code_bytes(RowCodes codes, std::int64_t length) { return codes == RowCodes::kInt8 ? length : (length + 1) / 2; }
constexpr std::int64_t scale_bytes(RowCodes codes, std::int64_t length) {
  return codes == RowCodes::kInt8 ? static_cast<std::int64_t>(sizeof(float)) : (length + kScaleSpan - 1) / kScaleSpan * 2;
}
constexpr std::int64_t narrow_row_bytes(RowCodes codes, std::int64_t length) {
  return code_bytes(codes, length) + scale_bytes(codes, length);
}

// How much a row's largest magnitude must shrink for its offset to be subtracted: a third of a bit.
inline constexpr float kLeastGain = 1.25F;

struct NarrowRowsArgs {
  ElementType type = ElementType::kFp32;
  const void* values = nullptr;   // [rows, length]
  std::int64_t value_stride = 0;  // from row to row, in elements
  std::int64_t rows = 0;
  std::int64_t length = 0;
  void* codes = nullptr;           // [rows, code_bytes()]
  void* scales = nullptr;          // [rows, scale_bytes()], aligned to its type
  const float* offsets = nullptr;  // [rows, length] fp32, contiguous; null: none
  std::uint8_t* taken = nullptr;   // [rows], with offsets: 1 if the row's was subtracted, else 0
  RowCodes form = RowCodes::kInt8;
};

struct DequantiseRowsArgs {
  const void* codes = nullptr;   // [rows, code_bytes()]
  const void* scales = nullptr;  // [rows, scale_bytes()]
  std::int64_t rows = 0;
  std::int64_t length = 0;
  ElementType type = ElementType::kFp32;
  void* values = nullptr;          // [rows, length], each rounded to the type
  std::int64_t value_stride = 0;   // from row to row, in elements
  const float* offsets = nullptr;  // [rows, length] fp32, contiguous, added in fp32 before rounding; null: none
  RowCodes form = RowCodes::kInt8;
};

LaunchStatus narrow_rows(const NarrowRowsArgs& args);
LaunchStatus dequantise_rows(const DequantiseRowsArgs& args);

// Multiplies a row with a symmetric orthogonal matrix, in place: Hadamard's of the largest power of two that divides the length, over that
// square root, for each part of that size. Twice changes nothing but for rounding; dot products of rotated rows are those of the rows.
void rotate_row(float* row, std::int64_t length);

}  // namespace winnow::kernels
