// One struct a type: its sizes, and the dequantisation of a block. Loops have fixed lengths and no branches, so that they vectorise;
// products are rounded before they are added (-ffp-contract=off in CMakeLists.txt), as in the package that the values are compared with.
#include "kernels/api/block_types.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>

#include "kernels/reference/half.h"

namespace winnow::kernels {
namespace {

using Byte = std::uint8_t;

constexpr int kSmall = 32;   // elements of a block with one scale
constexpr int kLarge = 256;  // elements of a block of sub-blocks

static_assert(std::endian::native == std::endian::little, "numbers are read as they are stored");

std::uint16_t bits16(const Byte* at) {
  std::uint16_t bits = 0;
  std::memcpy(&bits, at, sizeof bits);
  return bits;
}
float half_at(const Byte* at) { return fp16_to_float(bits16(at)); }
std::int8_t signed_at(const Byte* at) { return std::bit_cast<std::int8_t>(*at); }

struct F32 {
  static constexpr int kElements = 1, kBytes = 4;
  static void expand(const Byte* block, float* out) { std::memcpy(out, block, kBytes); }
};

struct F16 {
  static constexpr int kElements = 1, kBytes = 2;
  static void expand(const Byte* block, float* out) { *out = half_at(block); }
};

struct BF16 {
  static constexpr int kElements = 1, kBytes = 2;
  static void expand(const Byte* block, float* out) { *out = bf16_to_float(bits16(block)); }
};

struct Q8_0 {  // scale, 32 signed bytes
  static constexpr int kElements = kSmall, kBytes = 34;
  static void expand(const Byte* block, float* out) {
    const float scale = half_at(block);
    for (int i = 0; i < kSmall; ++i) out[i] = static_cast<float>(signed_at(block + 2 + i)) * scale;
  }
};

// 16 bytes: elements i and i + 16 share a byte, the earlier one in its low half.
struct Q4_0 {  // scale, nibbles; 8 is zero
  static constexpr int kElements = kSmall, kBytes = 18;
  static void expand(const Byte* block, float* out) {
    const float scale = half_at(block);
    const Byte* nibbles = block + 2;
    for (int i = 0; i < 16; ++i) out[i] = scale * (static_cast<float>(nibbles[i] & 15) - 8.0F);
    for (int i = 0; i < 16; ++i) out[i + 16] = scale * (static_cast<float>(nibbles[i] >> 4) - 8.0F);
  }
};

struct Q4_1 {  // scale, least value, nibbles
  static constexpr int kElements = kSmall, kBytes = 20;
  static void expand(const Byte* block, float* out) {
    const float scale = half_at(block);
    const float least = half_at(block + 2);
    const Byte* nibbles = block + 4;
    for (int i = 0; i < 16; ++i) out[i] = scale * static_cast<float>(nibbles[i] & 15) + least;
    for (int i = 0; i < 16; ++i) out[i + 16] = scale * static_cast<float>(nibbles[i] >> 4) + least;
  }
};

// 32 codes of 5 bits: nibbles as above, and the fifth bits in four bytes, element 0 lowest.
std::array<float, kSmall> five_bits(const Byte* fifths, const Byte* nibbles) {
  std::array<int, kSmall> high{};
  for (std::size_t i = 0; i < kSmall; ++i) high[i] = (fifths[i / 8] & (1 << (i % 8))) != 0 ? 16 : 0;
  std::array<float, kSmall> values{};
  for (std::size_t i = 0; i < 16; ++i) values[i] = static_cast<float>((nibbles[i] & 15) + high[i]);
  for (std::size_t i = 0; i < 16; ++i) values[i + 16] = static_cast<float>((nibbles[i] >> 4) + high[i + 16]);
  return values;
}

struct Q5_0 {  // scale, fifth bits, nibbles; 16 is zero
  static constexpr int kElements = kSmall, kBytes = 22;
  static void expand(const Byte* block, float* out) {
    const float scale = half_at(block);
    const std::array<float, kSmall> values = five_bits(block + 2, block + 6);
    for (std::size_t i = 0; i < kSmall; ++i) out[i] = scale * (values[i] - 16.0F);
  }
};

struct Q5_1 {  // scale, least value, fifth bits, nibbles
  static constexpr int kElements = kSmall, kBytes = 24;
  static void expand(const Byte* block, float* out) {
    const float scale = half_at(block);
    const float least = half_at(block + 2);
    const std::array<float, kSmall> values = five_bits(block + 4, block + 8);
    for (std::size_t i = 0; i < kSmall; ++i) out[i] = scale * values[i] + least;
  }
};

struct Q2_K {  // 16 bytes of sub-block scales and minima, 64 bytes of 2 bits, scale of the scales, of the minima
  static constexpr int kElements = kLarge, kBytes = 84;
  static void expand(const Byte* block, float* out) {
    const float scale = half_at(block + 80);
    const float min_scale = half_at(block + 82);
    for (int sub = 0; sub < 16; ++sub) {
      const float sub_scale = scale * static_cast<float>(block[sub] & 15);
      const float sub_min = min_scale * static_cast<float>(block[sub] >> 4);
      const Byte* pairs = block + 16 + sub / 8 * 32 + sub % 2 * 16;
      const int shift = sub % 8 / 2 * 2;
      for (int i = 0; i < 16; ++i) out[sub * 16 + i] = sub_scale * static_cast<float>((pairs[i] >> shift) & 3) - sub_min;
    }
  }
};

struct Q3_K {  // 32 bytes of third bits, 64 bytes of 2 bits, 12 bytes of sub-block scales (6 bits each, 32 is zero), scale of the scales
  static constexpr int kElements = kLarge, kBytes = 110;
  static int sub_scale(const Byte* scales, int sub) {
    const int low = (scales[sub % 8] >> (sub / 8 * 4)) & 15;
    const int high = (scales[8 + sub % 4] >> (sub / 4 * 2)) & 3;
    return (low | (high << 4)) - 32;
  }
  static void expand(const Byte* block, float* out) {
    const float scale = half_at(block + 108);
    for (int sub = 0; sub < 16; ++sub) {
      const float factor = scale * static_cast<float>(sub_scale(block + 96, sub));
      const Byte* pairs = block + 32 + sub / 8 * 32 + sub % 2 * 16;
      const Byte* thirds = block + sub % 2 * 16;
      const int shift = sub % 8 / 2 * 2;
      const int bit = sub / 2;
      for (int i = 0; i < 16; ++i) {
        const int third = ((thirds[i] >> bit) & 1) ^ 1;  // a bit that is set takes nothing away
        out[sub * 16 + i] = factor * static_cast<float>(((pairs[i] >> shift) & 3) - (third << 2));
      }
    }
  }
};

// Scales and minima of 8 sub-blocks, 6 bits each, in 12 bytes: four scales, four minima, and the low halves of the other eight, whose two
// high bits lie in the first eight bytes.
struct SubScales {
  std::array<Byte, 8> scale{};
  std::array<Byte, 8> min{};
  explicit SubScales(const Byte* packed) {
    for (std::size_t i = 0; i < 4; ++i) {
      scale[i] = packed[i] & 63;
      min[i] = packed[4 + i] & 63;
      scale[4 + i] = static_cast<Byte>((packed[8 + i] & 15) | ((packed[i] >> 2) & 0x30));
      min[4 + i] = static_cast<Byte>((packed[8 + i] >> 4) | ((packed[4 + i] >> 2) & 0x30));
    }
  }
};

struct Q4_K {  // scale of the scales, of the minima, 12 bytes of SubScales, 128 bytes of nibbles
  static constexpr int kElements = kLarge, kBytes = 144;
  static void expand(const Byte* block, float* out) {
    const float scale = half_at(block);
    const float min_scale = half_at(block + 2);
    const SubScales subs(block + 4);
    for (int sub = 0; sub < 8; ++sub) {
      const float factor = scale * static_cast<float>(subs.scale[static_cast<std::size_t>(sub)]);
      const float least = min_scale * static_cast<float>(subs.min[static_cast<std::size_t>(sub)]);
      const Byte* nibbles = block + 16 + sub / 2 * 32;
      const int shift = sub % 2 * 4;
      for (int i = 0; i < 32; ++i) out[sub * 32 + i] = factor * static_cast<float>((nibbles[i] >> shift) & 15) - least;
    }
  }
};

struct Q5_K {  // as Q4_K, with 32 bytes of fifth bits before the nibbles: bit s of byte i is that of element i of sub-block s
  static constexpr int kElements = kLarge, kBytes = 176;
  static void expand(const Byte* block, float* out) {
    const float scale = half_at(block);
    const float min_scale = half_at(block + 2);
    const SubScales subs(block + 4);
    const Byte* fifths = block + 16;
    for (int sub = 0; sub < 8; ++sub) {
      const float factor = scale * static_cast<float>(subs.scale[static_cast<std::size_t>(sub)]);
      const float least = min_scale * static_cast<float>(subs.min[static_cast<std::size_t>(sub)]);
      const Byte* nibbles = block + 48 + sub / 2 * 32;
      const int shift = sub % 2 * 4;
      for (int i = 0; i < 32; ++i) {
        const int value = ((nibbles[i] >> shift) & 15) | (((fifths[i] >> sub) & 1) << 4);
        out[sub * 32 + i] = factor * static_cast<float>(value) - least;
      }
    }
  }
};

struct Q6_K {  // 128 bytes of nibbles, 64 bytes of 2 high bits, 16 signed sub-block scales, scale of the scales; 32 is zero
  static constexpr int kElements = kLarge, kBytes = 210;
  static void expand(const Byte* block, float* out) {
    const float scale = half_at(block + 208);
    for (int sub = 0; sub < 16; ++sub) {
      const float factor = scale * static_cast<float>(signed_at(block + 192 + sub));
      const int half = sub / 8;
      const int row = sub % 8 / 2;  // of 32 elements, four in each half
      const Byte* nibbles = block + half * 64 + row % 2 * 32 + sub % 2 * 16;
      const Byte* highs = block + 128 + half * 32 + sub % 2 * 16;
      const int shift = row / 2 * 4;
      for (int i = 0; i < 16; ++i) {
        const int value = ((nibbles[i] >> shift) & 15) | (((highs[i] >> (row * 2)) & 3) << 4);
        out[sub * 16 + i] = factor * static_cast<float>(value - 32);
      }
    }
  }
};

// The values of IQ4's 16 nibbles: steps that dequantise with distance from zero.
constexpr std::array<float, 16> kSteps = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

void expand_steps(const Byte* nibbles, float factor, float* out) {
  for (int i = 0; i < 16; ++i) {
    out[i] = factor * kSteps[nibbles[i] & 15];
    out[i + 16] = factor * kSteps[nibbles[i] >> 4];
  }
}

struct IQ4_NL {  // scale, nibbles
  static constexpr int kElements = kSmall, kBytes = 18;
  static void expand(const Byte* block, float* out) { expand_steps(block + 2, half_at(block), out); }
};

struct IQ4_XS {  // scale of the scales, 16 bits of the two high bits and 4 bytes of the low four of 8 sub-block scales (32 is zero),
                 // nibbles
  static constexpr int kElements = kLarge, kBytes = 136;
  static void expand(const Byte* block, float* out) {
    const float scale = half_at(block);
    const int high = bits16(block + 2);
    for (int sub = 0; sub < 8; ++sub) {
      const int low = (block[4 + sub / 2] >> (sub % 2 * 4)) & 15;
      const int sub_scale = (low | (((high >> (sub * 2)) & 3) << 4)) - 32;
      expand_steps(block + 8 + sub * 16, scale * static_cast<float>(sub_scale), out + sub * 32);
    }
  }
};

struct U4Z {  // scale, zero, an unused byte, nibbles as in Q4_0
  static constexpr int kElements = kSmall, kBytes = 20;
  static void expand(const Byte* block, float* out) {
    const float scale = half_at(block);
    const auto zero = static_cast<float>(block[2]);
    const Byte* nibbles = block + 4;
    for (int i = 0; i < 16; ++i) out[i] = scale * (static_cast<float>(nibbles[i] & 15) - zero);
    for (int i = 0; i < 16; ++i) out[i + 16] = scale * (static_cast<float>(nibbles[i] >> 4) - zero);
  }
};

struct U8Z {  // scale, zero, an unused byte, 32 codes
  static constexpr int kElements = kSmall, kBytes = 36;
  static void expand(const Byte* block, float* out) {
    const float scale = half_at(block);
    const auto zero = static_cast<float>(block[2]);
    for (int i = 0; i < kSmall; ++i) out[i] = scale * (static_cast<float>(block[4 + i]) - zero);
  }
};

template <typename Type>
void expand_all(const Byte* blocks, std::int64_t count, float* out) {
  for (std::int64_t block = 0; block < count; ++block) Type::expand(blocks + block * Type::kBytes, out + block * Type::kElements);
}

constexpr int kNone = -1;

struct Entry {
  int elements = 0;
  int bytes = 0;
  void (*expand)(const Byte*, std::int64_t, float*) = nullptr;
  std::array<int, 2> scales = {kNone, kNone};  // byte offsets of a block's 16-bit floats; only these may be NaN
};

template <typename Type>
constexpr Entry entry(int scale = kNone, int second = kNone) {
  return {Type::kElements, Type::kBytes, &expand_all<Type>, {scale, second}};
}

Entry entry_of(BlockType type) {
  switch (type) {
    case BlockType::kF32: return entry<F32>();
    case BlockType::kF16: return entry<F16>();
    case BlockType::kBF16: return entry<BF16>();
    case BlockType::kQ8_0: return entry<Q8_0>(0);
    case BlockType::kQ4_0: return entry<Q4_0>(0);
    case BlockType::kQ4_1: return entry<Q4_1>(0, 2);
    case BlockType::kQ5_0: return entry<Q5_0>(0);
    case BlockType::kQ5_1: return entry<Q5_1>(0, 2);
    case BlockType::kQ2_K: return entry<Q2_K>(80, 82);
    case BlockType::kQ3_K: return entry<Q3_K>(108);
    case BlockType::kQ4_K: return entry<Q4_K>(0, 2);
    case BlockType::kQ5_K: return entry<Q5_K>(0, 2);
    case BlockType::kQ6_K: return entry<Q6_K>(208);
    case BlockType::kIQ4_NL: return entry<IQ4_NL>(0);
    case BlockType::kIQ4_XS: return entry<IQ4_XS>(0);
    case BlockType::kU4Z: return entry<U4Z>(0);
    case BlockType::kU8Z: return entry<U8Z>(0);
  }
  return {};
}

}  // namespace

int block_elements(BlockType type) { return entry_of(type).elements; }

int block_bytes(BlockType type) { return entry_of(type).bytes; }

void dequantise(BlockType type, const void* blocks, std::int64_t elements, float* out) {
  const Entry entry = entry_of(type);
  if (entry.expand != nullptr) entry.expand(static_cast<const Byte*>(blocks), elements / entry.elements, out);
}

bool finite_blocks(BlockType type, const void* blocks, std::int64_t count) {
  constexpr std::uint16_t kExponent = 0x7C00;  // all ones: infinity or NaN
  const Entry entry = entry_of(type);
  const auto* bytes = static_cast<const Byte*>(blocks);
  if (entry.scales[0] == kNone) {
    float value = 0.0F;
    bool finite = true;
    for (std::int64_t block = 0; finite && block < count; ++block) {
      entry.expand(bytes + block * entry.bytes, 1, &value);
      finite = std::isfinite(value);
    }
    return finite;
  }
  bool finite = true;
  for (const int scale : entry.scales) {
    for (std::int64_t block = 0; scale != kNone && block < count; ++block)
      finite &= (bits16(bytes + block * entry.bytes + scale) & kExponent) != kExponent;
  }
  return finite;
}

}  // namespace winnow::kernels
