#include "kernels/api/narrow_rows.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>

#include "kernels/reference/half.h"

namespace winnow::kernels {
namespace {

constexpr std::uint32_t kMagnitude = 0x7FFFFFFFU;
constexpr std::uint32_t kInfinity = 0x7F800000U;
// Adding it to a value of magnitude below 2^22 and subtracting it again gives the nearest integer, ties to even.
constexpr float kRounder = 12582912.0F;  // 1.5 x 2^23

void load_row(ElementType type, const void* values, std::int64_t first, std::int64_t length, float* row) {
  switch (type) {
    case ElementType::kFp32: {
      std::copy_n(static_cast<const float*>(values) + first, length, row);
      return;
    }
    case ElementType::kBf16: {
      const auto* from = static_cast<const std::uint16_t*>(values) + first;
      for (std::int64_t i = 0; i < length; ++i) row[i] = bf16_to_float(from[i]);
      return;
    }
    case ElementType::kFp16: {
      const auto* from = static_cast<const std::uint16_t*>(values) + first;
      for (std::int64_t i = 0; i < length; ++i) row[i] = fp16_to_float(from[i]);
      return;
    }
  }
}

void store_row(ElementType type, void* values, std::int64_t first, std::int64_t length, const float* row) {
  switch (type) {
    case ElementType::kFp32: {
      std::copy_n(row, length, static_cast<float*>(values) + first);
      return;
    }
    case ElementType::kBf16: {
      auto* to = static_cast<std::uint16_t*>(values) + first;
      for (std::int64_t i = 0; i < length; ++i) to[i] = float_to_bf16(row[i]);
      return;
    }
    case ElementType::kFp16: {
      auto* to = static_cast<std::uint16_t*>(values) + first;
      for (std::int64_t i = 0; i < length; ++i) to[i] = float_to_fp16(row[i]);
      return;
    }
  }
}

// The nearest value of 17 bits.
float with_17_bits(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  return std::bit_cast<float>((bits + 0x3FU + (bits >> 7 & 1U)) & ~0x7FU);
}

// Magnitudes are compared as bits, in the order of their values, so that NaN is above all and the loop becomes vector code.
float scale_of(const float* row, std::int64_t length) {
  std::uint32_t largest = 0;
  for (std::int64_t i = 0; i < length; ++i) largest = std::max(largest, std::bit_cast<std::uint32_t>(row[i]) & kMagnitude);
  if (largest >= kInfinity) return std::numeric_limits<float>::quiet_NaN();
  return with_17_bits(std::bit_cast<float>(largest) / 127.0F);
}

// Leaves the row as it is where that gains too little, as of a row that is not finite.
bool take_offset(const float* offset, std::int64_t length, float* row) {
  float rest[kMaxHeadDim];
  for (std::int64_t i = 0; i < length; ++i) rest[i] = row[i] - offset[i];
  if (!(kLeastGain * scale_of(rest, length) <= scale_of(row, length))) return false;
  std::copy_n(rest, length, row);
  return true;
}

void narrow_row(const float* row, std::int64_t length, float& scale, std::int8_t* codes) {
  scale = scale_of(row, length);
  if (!(scale > 0.0F)) {
    std::fill_n(codes, length, std::int8_t{0});
    return;
  }
  for (std::int64_t i = 0; i < length; ++i) {
    const float steps = std::min(std::max(row[i] / scale, -127.0F), 127.0F);
    codes[i] = static_cast<std::int8_t>(static_cast<std::int32_t>((steps + kRounder) - kRounder));
  }
}

float span_scale(const float* span, std::int64_t length) {
  float furthest = 0.0F;
  for (std::int64_t i = 0; i < length; ++i) furthest = std::abs(span[i]) > std::abs(furthest) ? span[i] : furthest;
  return furthest / -8.0F;
}

// Codes of a span's halves share bytes.
constexpr std::int64_t half_of(std::int64_t span) { return (span + 1) / 2; }

void narrow_span(const float* span, std::int64_t length, std::uint16_t& stored, std::uint8_t* codes) {
  constexpr std::uint8_t kZero = 8;
  const std::int64_t half = half_of(length);
  stored = float_to_bf16(span_scale(span, length));
  const float scale = bf16_to_float(stored);
  std::fill_n(codes, half, static_cast<std::uint8_t>(kZero << 4 | kZero));
  if (!(std::abs(scale) > 0.0F)) return;
  std::uint8_t steps[kScaleSpan];
  for (std::int64_t i = 0; i < length; ++i) {
    const float code = std::min(std::max(span[i] / scale, -8.0F), 7.0F);
    steps[i] = static_cast<std::uint8_t>(static_cast<std::int32_t>((code + kRounder) - kRounder) + kZero);
  }
  for (std::int64_t i = 0; i < half; ++i)
    codes[i] = static_cast<std::uint8_t>(steps[i] | (half + i < length ? steps[half + i] : kZero) << 4);
}

void narrow_rotated(float* row, std::int64_t length, std::uint16_t* scales, std::uint8_t* codes) {
  rotate_row(row, length);
  const bool finite = !std::isnan(scale_of(row, length));
  if (!finite) std::fill_n(row, length, 0.0F);
  for (std::int64_t first = 0; first < length; first += kScaleSpan, ++scales, codes += kScaleSpan / 2) {
    narrow_span(row + first, std::min(kScaleSpan, length - first), *scales, codes);
    if (!finite) *scales = float_to_bf16(std::numeric_limits<float>::quiet_NaN());
  }
}

void upcast_rotated(const std::uint8_t* codes, const std::uint16_t* scales, std::int64_t length, float* row) {
  for (std::int64_t first = 0; first < length; first += kScaleSpan, ++scales, codes += kScaleSpan / 2) {
    const std::int64_t span = std::min(kScaleSpan, length - first);
    const std::int64_t half = half_of(span);
    const float scale = bf16_to_float(*scales);
    for (std::int64_t i = 0; i < half; ++i) row[first + i] = static_cast<float>((codes[i] & 15) - 8) * scale;
    for (std::int64_t i = half; i < span; ++i) row[first + i] = static_cast<float>((codes[i - half] >> 4) - 8) * scale;
  }
  rotate_row(row, length);
}

bool good(const void* values, const void* codes, const void* scales, ElementType type, std::int64_t rows, std::int64_t length,
          RowCodes form) {
  return values != nullptr && codes != nullptr && scales != nullptr && is_known(type) && rows >= 1 && length >= 1 &&
         (form == RowCodes::kInt8 || form == RowCodes::kInt4);
}

// The place of row r's codes or scales.
template <class To, class From>
To* row_of(From* first, std::int64_t r, std::int64_t bytes) {
  using Byte = std::conditional_t<std::is_const_v<From>, const std::byte, std::byte>;
  return reinterpret_cast<To*>(static_cast<Byte*>(first) + r * bytes);
}

}  // namespace

void rotate_row(float* row, std::int64_t length) {
  const std::int64_t size = length & -length;
  for (std::int64_t apart = 1; apart < size; apart *= 2) {
    for (std::int64_t first = 0; first < length; first += 2 * apart) {
      for (std::int64_t i = first; i < first + apart; ++i) {
        const float sum = row[i] + row[i + apart];
        row[i + apart] = row[i] - row[i + apart];
        row[i] = sum;
      }
    }
  }
  const float factor = 1.0F / std::sqrt(static_cast<float>(size));
  for (std::int64_t i = 0; i < length; ++i) row[i] *= factor;
}

LaunchStatus narrow_rows(const NarrowRowsArgs& args) {
  if (!good(args.values, args.codes, args.scales, args.type, args.rows, args.length, args.form)) return LaunchStatus::kBadArgument;
  if (args.length > kMaxHeadDim) return LaunchStatus::kUnsupported;
  if (args.offsets != nullptr && args.taken == nullptr) return LaunchStatus::kBadArgument;
  const std::int64_t codes = code_bytes(args.form, args.length);
  const std::int64_t scales = scale_bytes(args.form, args.length);
  float row[kMaxHeadDim];
  for (std::int64_t r = 0; r < args.rows; ++r) {
    load_row(args.type, args.values, r * args.value_stride, args.length, row);
    if (args.offsets != nullptr) args.taken[r] = take_offset(args.offsets + r * args.length, args.length, row) ? 1 : 0;
    if (args.form == RowCodes::kInt8) {
      narrow_row(row, args.length, *row_of<float>(args.scales, r, scales), row_of<std::int8_t>(args.codes, r, codes));
    } else {
      narrow_rotated(row, args.length, row_of<std::uint16_t>(args.scales, r, scales), row_of<std::uint8_t>(args.codes, r, codes));
    }
  }
  return LaunchStatus::kOk;
}

LaunchStatus dequantise_rows(const DequantiseRowsArgs& args) {
  if (!good(args.values, args.codes, args.scales, args.type, args.rows, args.length, args.form)) return LaunchStatus::kBadArgument;
  if (args.length > kMaxHeadDim) return LaunchStatus::kUnsupported;
  const std::int64_t codes = code_bytes(args.form, args.length);
  const std::int64_t scales = scale_bytes(args.form, args.length);
  float row[kMaxHeadDim];
  for (std::int64_t r = 0; r < args.rows; ++r) {
    if (args.form == RowCodes::kInt8) {
      const auto* const of_row = row_of<const std::int8_t>(args.codes, r, codes);
      const float scale = *row_of<const float>(args.scales, r, scales);
      for (std::int64_t i = 0; i < args.length; ++i) row[i] = static_cast<float>(of_row[i]) * scale;
    } else {
      upcast_rotated(row_of<const std::uint8_t>(args.codes, r, codes), row_of<const std::uint16_t>(args.scales, r, scales), args.length,
                     row);
    }
    if (args.offsets != nullptr) {
      for (std::int64_t i = 0; i < args.length; ++i) row[i] += args.offsets[r * args.length + i];
    }
    store_row(args.type, args.values, r * args.value_stride, args.length, row);
  }
  return LaunchStatus::kOk;
}

}  // namespace winnow::kernels
