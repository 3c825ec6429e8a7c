// Block products for CPUs, compiled once per instruction set and chosen at run time (Highway).
//
// Work: some rows at a time, so that the input is loaded once for all of them and their sums hide each other's latency. The types that most
// files are made of are widened in registers; the others a few hundred numbers at a time into the first-level cache. No alignment is
// assumed.
#include "kernels/api/block_product.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kernels/reference/check_block_product.h"
#include "kernels/reference/half.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/dispatch/block_product_cpu.cpp"
// Sums of several rows are arrays of vectors, which scalable vector types cannot form.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#endif
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace winnow::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, 16>;
using Vector = hn::Vec<Floats>;

constexpr int kRows = 4;
constexpr std::int64_t kSmallBlock = 32;  // elements of Q8_0, Q4_0 and Q4_1
constexpr std::int64_t kWidened = 512;    // numbers at a time of the other types

HWY_INLINE float half_at(const std::uint8_t* at) {
  std::uint16_t bits;
  std::memcpy(&bits, at, sizeof bits);
  return fp16_to_float(bits);
}

// Each widens lanes of a block, elements [i, i + lanes); of the 4-bit types with i below 16, low() those and high() those 16 behind.
struct Q8 {
  static constexpr std::int64_t kBytes = 34;
  explicit Q8(const std::uint8_t* block) : scale_(hn::Set(Floats(), half_at(block))), codes_(block + 2) {}
  HWY_INLINE Vector low(std::int64_t i) const { return at(i); }
  HWY_INLINE Vector high(std::int64_t i) const { return at(16 + i); }

 private:
  HWY_INLINE Vector at(std::int64_t i) const {
    const Floats d;
    const hn::Rebind<std::int8_t, Floats> bytes;
    const auto codes = hn::LoadU(bytes, reinterpret_cast<const std::int8_t*>(codes_ + i));
    return hn::Mul(hn::ConvertTo(d, hn::PromoteTo(hn::Rebind<std::int32_t, Floats>(), codes)), scale_);
  }
  Vector scale_;
  const std::uint8_t* codes_;
};

HWY_INLINE Vector widened_nibbles(hn::Vec<hn::Rebind<std::uint8_t, Floats>> nibbles) {
  return hn::ConvertTo(Floats(), hn::PromoteTo(hn::Rebind<std::int32_t, Floats>(), nibbles));
}

struct Q4 {
  static constexpr std::int64_t kBytes = 18;
  explicit Q4(const std::uint8_t* block)
      : scale_(hn::Set(Floats(), half_at(block))), offset_(hn::Set(Floats(), -8.0F * half_at(block))), codes_(block + 2) {}
  HWY_INLINE Vector low(std::int64_t i) const {
    return hn::MulAdd(widened_nibbles(hn::And(hn::LoadU(bytes_, codes_ + i), hn::Set(bytes_, 15))), scale_, offset_);
  }
  HWY_INLINE Vector high(std::int64_t i) const {
    return hn::MulAdd(widened_nibbles(hn::ShiftRight<4>(hn::LoadU(bytes_, codes_ + i))), scale_, offset_);
  }

 protected:
  Q4(Vector scale, Vector offset, const std::uint8_t* codes) : scale_(scale), offset_(offset), codes_(codes) {}

 private:
  static constexpr hn::Rebind<std::uint8_t, Floats> bytes_{};
  Vector scale_;
  Vector offset_;
  const std::uint8_t* codes_;
};

struct Q4WithMinimum : Q4 {
  static constexpr std::int64_t kBytes = 20;
  explicit Q4WithMinimum(const std::uint8_t* block)
      : Q4(hn::Set(Floats(), half_at(block)), hn::Set(Floats(), half_at(block + 2)), block + 4) {}
};

// Rows [row, row + count) of the product; count is kRows at most.
template <class Block, int count>
HWY_INLINE void small_block_rows(const BlockProductArgs& args, std::int64_t row) {
  const Floats d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const std::uint8_t* blocks[count];
  Vector low[count];
  Vector high[count];
  for (int r = 0; r < count; ++r) {
    const std::int64_t stored = args.row_of != nullptr ? args.row_of[row + r] : row + r;
    blocks[r] = static_cast<const std::uint8_t*>(args.matrix) + stored * row_bytes(args);
    low[r] = high[r] = hn::Zero(d);
  }
  for (std::int64_t column = 0; column < args.columns; column += kSmallBlock) {
    const float* const input = args.input + column;
    for (int r = 0; r < count; ++r) {
      const Block block(blocks[r]);
      for (std::int64_t i = 0; i < kSmallBlock / 2; i += lanes) {
        low[r] = hn::MulAdd(block.low(i), hn::LoadU(d, input + i), low[r]);
        high[r] = hn::MulAdd(block.high(i), hn::LoadU(d, input + 16 + i), high[r]);
      }
      blocks[r] += Block::kBytes;
    }
  }
  for (int r = 0; r < count; ++r) args.output[row + r] = hn::GetLane(hn::SumOfLanes(d, hn::Add(low[r], high[r])));
}

template <class Block>
void small_block_product(const BlockProductArgs& args) {
  std::int64_t row = args.begin;
  for (; row + kRows <= args.end; row += kRows) small_block_rows<Block, kRows>(args, row);
  for (; row < args.end; ++row) small_block_rows<Block, 1>(args, row);
}

void widened_product(const BlockProductArgs& args) {
  const Floats d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  alignas(64) float values[kWidened];
  for (std::int64_t row = args.begin; row < args.end; ++row) {
    const std::int64_t stored = args.row_of != nullptr ? args.row_of[row] : row;
    const auto* blocks = static_cast<const std::uint8_t*>(args.matrix) + stored * row_bytes(args);
    Vector sum = hn::Zero(d);
    float rest = 0.0F;
    for (std::int64_t column = 0; column < args.columns; column += kWidened) {
      const std::int64_t count = std::min(kWidened, args.columns - column);
      dequantize(args.type, blocks, count, values);
      blocks += count / block_elements(args.type) * block_bytes(args.type);
      std::int64_t i = 0;
      for (; i + lanes <= count; i += lanes) sum = hn::MulAdd(hn::LoadU(d, values + i), hn::LoadU(d, args.input + column + i), sum);
      for (; i < count; ++i) rest += values[i] * args.input[column + i];
    }
    args.output[row] = hn::GetLane(hn::SumOfLanes(d, sum)) + rest;
  }
}

void block_product(const BlockProductArgs& args) {
  switch (args.type) {
    case BlockType::kQ8_0:
      return small_block_product<Q8>(args);
    case BlockType::kQ4_0:
      return small_block_product<Q4>(args);
    case BlockType::kQ4_1:
      return small_block_product<Q4WithMinimum>(args);
    default:
      return widened_product(args);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace winnow::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace winnow::kernels {

HWY_EXPORT(block_product);

LaunchStatus block_product_cpu(const BlockProductArgs& args) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  HWY_DYNAMIC_DISPATCH(block_product)(args);
  return LaunchStatus::kOk;
}

}  // namespace winnow::kernels
#endif  // HWY_ONCE
