// The block types with an int8 GEMV, as unsigned codes with a factor and an offset per few codes: a value is factor * (code - centre) +
// offset, and all codes of a type share one centre. kernels/reference/block_types.cpp has the blocks' layouts.
//
// For files of kernels/cpu, which are compiled once per instruction set: included after highway.h, within each of them. Loops have fixed
// lengths and no branches, so that they vectorise.
#if defined(WINNOW_KERNELS_CPU_BLOCK_CODES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WINNOW_KERNELS_CPU_BLOCK_CODES_INL_H_
#undef WINNOW_KERNELS_CPU_BLOCK_CODES_INL_H_
#else
#define WINNOW_KERNELS_CPU_BLOCK_CODES_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <cstring>

#include "kernels/cpu/half-inl.h"

#if HWY_TARGET != HWY_SCALAR

HWY_BEFORE_NAMESPACE();
namespace winnow::kernels {
namespace HWY_NAMESPACE {
namespace codes {

namespace hn = hwy::HWY_NAMESPACE;

// Factor and offset of a group of codes.
struct Line {
  float factor;
  float offset;  // where a type has one
};

using Sixteen = hn::FixedTag<std::uint8_t, 16>;

// 16 bytes: elements i and i + 16 share one, the earlier in its low half.
HWY_INLINE void split_nibbles(const std::uint8_t* nibbles, std::uint8_t* to) {
  const Sixteen d;
  const auto bytes = hn::LoadU(d, nibbles);
  hn::StoreU(hn::And(bytes, hn::Set(d, 15)), d, to);
  hn::StoreU(hn::ShiftRight<4>(bytes), d, to + 16);
}
// The fifth bits of 32 elements in four bytes, element 0 lowest.
HWY_INLINE void add_fifths(const std::uint8_t* fifths, std::uint8_t* to) {
  const Sixteen d;
  alignas(16) static constexpr std::uint8_t kByteOf[16] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1};
  alignas(16) static constexpr std::uint8_t kBitOf[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
  for (int half = 0; half < 2; ++half) {
    std::uint16_t bits;
    std::memcpy(&bits, fifths + 2 * half, sizeof bits);
    const auto twice = hn::BitCast(d, hn::Set(hn::Repartition<std::uint16_t, Sixteen>(), bits));
    const auto set = hn::TestBit(hn::TableLookupBytes(twice, hn::Load(d, kByteOf)), hn::Load(d, kBitOf));
    hn::StoreU(hn::Or(hn::LoadU(d, to + half * 16), hn::IfThenElseZero(set, hn::Set(d, 16))), d, to + half * 16);
  }
}

// kGroup: codes that share a Line. kTop: the largest code. Lines of a type without kHasOffset have no offset.
struct Q8_0 {
  static constexpr int kElements = 32, kBytes = 34, kGroup = 32, kTop = 255, kCentre = 128;
  static constexpr bool kHasOffset = false;
  static HWY_INLINE void unpack(const std::uint8_t* block, std::uint8_t* to, Line* lines) {
    for (int i = 0; i < 32; ++i) to[i] = block[2 + i] ^ 128;  // signed, and 128
    const float scale = half_at(block);
    *lines = {scale, -128.0F * scale};
  }
};

struct Q4_0 {
  static constexpr int kElements = 32, kBytes = 18, kGroup = 32, kTop = 15, kCentre = 8;
  static constexpr bool kHasOffset = false;
  static HWY_INLINE void unpack(const std::uint8_t* block, std::uint8_t* to, Line* lines) {
    split_nibbles(block + 2, to);
    const float scale = half_at(block);
    *lines = {scale, -8.0F * scale};
  }
};

struct Q4_1 {
  static constexpr int kElements = 32, kBytes = 20, kGroup = 32, kTop = 15, kCentre = 0;
  static constexpr bool kHasOffset = true;
  static HWY_INLINE void unpack(const std::uint8_t* block, std::uint8_t* to, Line* lines) {
    split_nibbles(block + 4, to);
    *lines = {half_at(block), half_at(block + 2)};
  }
};

struct Q5_0 {
  static constexpr int kElements = 32, kBytes = 22, kGroup = 32, kTop = 31, kCentre = 16;
  static constexpr bool kHasOffset = false;
  static HWY_INLINE void unpack(const std::uint8_t* block, std::uint8_t* to, Line* lines) {
    split_nibbles(block + 6, to);
    add_fifths(block + 2, to);
    const float scale = half_at(block);
    *lines = {scale, -16.0F * scale};
  }
};

struct Q5_1 {
  static constexpr int kElements = 32, kBytes = 24, kGroup = 32, kTop = 31, kCentre = 0;
  static constexpr bool kHasOffset = true;
  static HWY_INLINE void unpack(const std::uint8_t* block, std::uint8_t* to, Line* lines) {
    split_nibbles(block + 8, to);
    add_fifths(block + 4, to);
    *lines = {half_at(block), half_at(block + 2)};
  }
};

struct U4Z {
  static constexpr int kElements = 32, kBytes = 20, kGroup = 32, kTop = 15, kCentre = 0;
  static constexpr bool kHasOffset = true;
  static HWY_INLINE void unpack(const std::uint8_t* block, std::uint8_t* to, Line* lines) {
    split_nibbles(block + 4, to);
    const float scale = half_at(block);
    *lines = {scale, -static_cast<float>(block[2]) * scale};
  }
};

struct U8Z {
  static constexpr int kElements = 32, kBytes = 36, kGroup = 32, kTop = 255, kCentre = 0;
  static constexpr bool kHasOffset = true;
  static HWY_INLINE void unpack(const std::uint8_t* block, std::uint8_t* to, Line* lines) {
    std::memcpy(to, block + 4, 32);
    const float scale = half_at(block);
    *lines = {scale, -static_cast<float>(block[2]) * scale};
  }
};

// Scales and minima of 8 sub-blocks of 32 codes, 6 bits each, in 12 bytes.
HWY_INLINE void sub_lines(const std::uint8_t* block, Line* lines) {
  const float scale = half_at(block);
  const float least = half_at(block + 2);
  const std::uint8_t* const packed = block + 4;
  for (int i = 0; i < 4; ++i) {
    const int high_scale = (packed[8 + i] & 15) | (packed[i] >> 2 & 0x30);
    const int high_least = packed[8 + i] >> 4 | (packed[4 + i] >> 2 & 0x30);
    lines[i] = {scale * static_cast<float>(packed[i] & 63), -least * static_cast<float>(packed[4 + i] & 63)};
    lines[4 + i] = {scale * static_cast<float>(high_scale), -least * static_cast<float>(high_least)};
  }
}

struct Q4_K {
  static constexpr int kElements = 256, kBytes = 144, kGroup = 32, kTop = 15, kCentre = 0;
  static constexpr bool kHasOffset = true;
  static HWY_INLINE void unpack(const std::uint8_t* block, std::uint8_t* to, Line* lines) {
    sub_lines(block, lines);
    for (int pair = 0; pair < 4; ++pair) {
      for (int i = 0; i < 32; ++i) to[pair * 64 + i] = block[16 + pair * 32 + i] & 15;
      for (int i = 0; i < 32; ++i) to[pair * 64 + 32 + i] = block[16 + pair * 32 + i] >> 4;
    }
  }
};

struct Q5_K {
  static constexpr int kElements = 256, kBytes = 176, kGroup = 32, kTop = 31, kCentre = 0;
  static constexpr bool kHasOffset = true;
  static HWY_INLINE void unpack(const std::uint8_t* block, std::uint8_t* to, Line* lines) {
    sub_lines(block, lines);
    for (int sub = 0; sub < 8; ++sub) {
      const std::uint8_t* const nibbles = block + 48 + sub / 2 * 32;
      for (int i = 0; i < 32; ++i) {
        to[sub * 32 + i] = static_cast<std::uint8_t>((nibbles[i] >> sub % 2 * 4 & 15) | (block[16 + i] >> sub & 1) << 4);
      }
    }
  }
};

struct Q6_K {
  static constexpr int kElements = 256, kBytes = 210, kGroup = 16, kTop = 63, kCentre = 32;
  static constexpr bool kHasOffset = false;
  static HWY_INLINE void unpack(const std::uint8_t* block, std::uint8_t* to, Line* lines) {
    const float scale = half_at(block + 208);
    for (int sub = 0; sub < 16; ++sub) {
      const float factor = scale * static_cast<float>(static_cast<std::int8_t>(block[192 + sub]));
      lines[sub] = {factor, 0.0F};
    }
    for (int row = 0; row < 8; ++row) {  // of 32 elements; four are a half of the block
      const std::uint8_t* const nibbles = block + row / 4 * 64 + row % 2 * 32;
      const std::uint8_t* const highs = block + 128 + row / 4 * 32;
      for (int i = 0; i < 32; ++i) {
        to[row * 32 + i] = static_cast<std::uint8_t>((nibbles[i] >> row % 4 / 2 * 4 & 15) | (highs[i] >> row % 4 * 2 & 3) << 4);
      }
    }
  }
};

}  // namespace codes
}  // namespace HWY_NAMESPACE
}  // namespace winnow::kernels
HWY_AFTER_NAMESPACE();

#endif  // vectors
#endif  // per target
