#include "kernels/api/int8_rows.h"

#include <algorithm>
#include <bit>
#include <limits>

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

// Leaves row and scale as they are where that gains too little, as of a row that is not finite.
bool take_offset(const float* offset, std::int64_t length, float* row, float& scale) {
  float rest[kMaxHeadDim];
  for (std::int64_t i = 0; i < length; ++i) rest[i] = row[i] - offset[i];
  const float of_rest = scale_of(rest, length);
  if (!(kLeastGain * of_rest <= scale)) return false;
  std::copy_n(rest, length, row);
  scale = of_rest;
  return true;
}

void narrow_row(const float* row, std::int64_t length, float scale, std::int8_t* codes) {
  if (!(scale > 0.0F)) {
    std::fill_n(codes, length, std::int8_t{0});
    return;
  }
  for (std::int64_t i = 0; i < length; ++i) {
    const float steps = std::min(std::max(row[i] / scale, -127.0F), 127.0F);
    codes[i] = static_cast<std::int8_t>(static_cast<std::int32_t>((steps + kRounder) - kRounder));
  }
}

bool good(const void* values, const void* codes, const void* scales, ElementType type, std::int64_t rows, std::int64_t length) {
  return values != nullptr && codes != nullptr && scales != nullptr && is_known(type) && rows >= 1 && length >= 1;
}

}  // namespace

LaunchStatus int8_rows(const Int8RowsArgs& args) {
  if (!good(args.values, args.codes, args.scales, args.type, args.rows, args.length)) return LaunchStatus::kBadArgument;
  if (args.length > kMaxHeadDim) return LaunchStatus::kUnsupported;
  if (args.offsets != nullptr && args.taken == nullptr) return LaunchStatus::kBadArgument;
  float row[kMaxHeadDim];
  for (std::int64_t r = 0; r < args.rows; ++r) {
    load_row(args.type, args.values, r * args.value_stride, args.length, row);
    args.scales[r] = scale_of(row, args.length);
    if (args.offsets != nullptr) args.taken[r] = take_offset(args.offsets + r * args.length, args.length, row, args.scales[r]) ? 1 : 0;
    narrow_row(row, args.length, args.scales[r], args.codes + r * args.length);
  }
  return LaunchStatus::kOk;
}

LaunchStatus dequantise_rows(const DequantiseRowsArgs& args) {
  if (!good(args.values, args.codes, args.scales, args.type, args.rows, args.length)) return LaunchStatus::kBadArgument;
  if (args.length > kMaxHeadDim) return LaunchStatus::kUnsupported;
  float row[kMaxHeadDim];
  for (std::int64_t r = 0; r < args.rows; ++r) {
    const std::int8_t* const codes = args.codes + r * args.length;
    for (std::int64_t i = 0; i < args.length; ++i) row[i] = static_cast<float>(codes[i]) * args.scales[r];
    if (args.offsets != nullptr) {
      for (std::int64_t i = 0; i < args.length; ++i) row[i] += args.offsets[r * args.length + i];
    }
    store_row(args.type, args.values, r * args.value_stride, args.length, row);
  }
  return LaunchStatus::kOk;
}

}  // namespace winnow::kernels
