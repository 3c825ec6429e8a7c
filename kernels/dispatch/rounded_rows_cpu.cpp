// Many rounded rows times a matrix in blocks, for CPUs with a product of bytes (AVX2 and better), compiled once per instruction set and
// chosen at run time (Highway). Elsewhere the reference.
//
// Work: some rows of the matrix and columns at a time are unpacked into a panel that stays in the first cache, four codes of each of its
// rows side by side; then every tile of the input goes by. Four codes of an input row are multiplied with the panel's rows at once, two
// vectors of them. Without an instruction for four products to a 32-bit sum (VNNI) pairs are summed in 16 bits over as many codes as that
// holds: 32 of four bits, 16 of five, 8 of six, and of eight a pair, of which the codes' magnitudes are multiplied with inputs of their
// sign. Sums of groups are scaled and added in fp32, a panel's to the output's.
#include "kernels/api/rounded_rows.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kernels/reference/check_block_product.h"
#include "kernels/reference/check_rounded_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/dispatch/rounded_rows_cpu.cpp"
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#endif
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

#include "kernels/dispatch/block_codes-inl.h"
#include "kernels/dispatch/byte_products-inl.h"

HWY_BEFORE_NAMESPACE();
namespace winnow::kernels {
namespace HWY_NAMESPACE {

#if !(HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2)

void rounded_rows(const RoundedRowsArgs& args) { rounded_rows_reference(args); }
bool is_fast(BlockType) { return false; }

#else

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, 8>;
using Vector = hn::Vec<Floats>;
using Integers = hn::Repartition<std::int32_t, Floats>;

constexpr int kRows = static_cast<int>(kTileRows);
constexpr int kLanes = 8;    // rows of the matrix in a vector, four codes each
constexpr int kVectors = 2;  // of a panel
constexpr int kRoom = kVectors * kLanes;
constexpr int kColumns = 1024;   // of a panel: whole blocks of every type
constexpr int kLeastGroup = 16;  // codes with a factor of their own

struct Panel {
  alignas(64) std::uint8_t codes[kColumns / 4][kVectors][kLanes][4];
  alignas(64) float factors[kColumns / kLeastGroup][kRoom];
  alignas(64) float offsets[kColumns / kLeastGroup][kRoom];
};

// How codes are multiplied. kRun: steps of four codes whose sums hold. kSigned: codes of eight bits lie in the panel less 128.
struct InOneInstruction {
  static constexpr bool kSigned = false;
  static constexpr int kRun = 8;
  static HWY_INLINE __m256i add(__m256i sums, __m256i codes, __m256i input) { return add_byte_products(sums, codes, input); }
  static HWY_INLINE __m256i whole(__m256i sums) { return sums; }
};
template <int top>
struct InSixteenBits {
  static constexpr bool kSigned = false;
  static constexpr int kRun = top < 16 ? 8 : top < 32 ? 4 : 2;
  static_assert(kRun * 2 * 127 * top <= 32767);
  static HWY_INLINE __m256i add(__m256i sums, __m256i codes, __m256i input) {
    return _mm256_add_epi16(sums, _mm256_maddubs_epi16(codes, input));
  }
  static HWY_INLINE __m256i whole(__m256i sums) { return _mm256_madd_epi16(sums, _mm256_set1_epi16(1)); }
};
// Of eight bits: a code's magnitude, and its sign with the input, so that a pair of products fits into 16 bits.
template <>
struct InSixteenBits<255> {
  static constexpr bool kSigned = true;
  static constexpr int kRun = 8;
  static_assert(2 * 127 * 128 <= 32767);
  static HWY_INLINE __m256i add(__m256i sums, __m256i codes, __m256i input) {
    const __m256i pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(codes), _mm256_sign_epi8(input, codes));
    return _mm256_add_epi32(sums, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
  }
  static HWY_INLINE __m256i whole(__m256i sums) { return sums; }
};

// Rows [first, first + count) of the matrix, columns [column, column + columns), into the panel; rows that it has room for beyond them
// become zeros.
template <class Type, bool is_signed>
void fill(const RoundedRowsArgs& args, std::int64_t first, std::int64_t count, std::int64_t column, std::int64_t columns, Panel& panel) {
  constexpr int kGroups = Type::kElements / Type::kGroup;
  const std::int64_t bytes = args.columns / Type::kElements * Type::kBytes;
  for (int row = 0; row < kRoom; ++row) {
    const std::uint8_t* block = nullptr;
    if (row < count) {
      const std::int64_t stored = args.row_of != nullptr ? args.row_of[first + row] : first + row;
      block = static_cast<const std::uint8_t*>(args.matrix) + stored * bytes + column / Type::kElements * Type::kBytes;
    }
    const int vector = row / kLanes;
    const int lane = row % kLanes;
    for (std::int64_t k = 0; k < columns; k += Type::kElements) {
      alignas(32) std::uint8_t unpacked[Type::kElements];
      codes::Line lines[kGroups];
      if (block != nullptr) {
        Type::unpack(block, unpacked, lines);
        block += Type::kBytes;
      } else {
        std::memset(unpacked, 0, sizeof unpacked);
        std::memset(lines, 0, sizeof lines);
      }
      for (int i = 0; i < Type::kElements / 4; ++i) {
        std::uint32_t four;
        std::memcpy(&four, unpacked + 4 * i, sizeof four);
        if constexpr (is_signed) four ^= 0x80808080;
        std::memcpy(panel.codes[k / 4 + i][vector][lane], &four, sizeof four);
      }
      for (int group = 0; group < kGroups; ++group) {
        panel.factors[k / Type::kGroup + group][row] = lines[group].factor;
        panel.offsets[k / Type::kGroup + group][row] = lines[group].offset + (is_signed ? 128.0F * lines[group].factor : 0.0F);
      }
    }
  }
}

// What a tile contributes at the columns that a panel has.
struct TileAt {
  const std::int8_t* codes;
  const RoundedScale* scales;
  const float* half_sums;
};

// output: [kRows, rows of the panel]. It is what the integers leave no registers for.
template <class Type, class Products>
HWY_INLINE void tile_product(const Panel& panel, TileAt tile, std::int64_t columns, float* HWY_RESTRICT output) {
  constexpr int kSteps = Type::kGroup / 4;
  constexpr int kRun = std::min(kSteps, Products::kRun);
  const Floats d;
  std::fill_n(output, kRows * kRoom, 0.0F);
  const std::int64_t groups = columns / Type::kGroup;
  for (std::int64_t group = 0; group < groups; ++group) {
    __m256i whole[kRows][kVectors];
#pragma GCC unroll 4
    for (int first = 0; first < kSteps; first += kRun) {
      __m256i sums[kRows][kVectors];
      for (int r = 0; r < kRows; ++r) {
        for (int v = 0; v < kVectors; ++v) sums[r][v] = _mm256_setzero_si256();
      }
#pragma GCC unroll 8
      for (int step = first; step < first + kRun; ++step) {
        const std::int64_t four = group * kSteps + step;
        __m256i of_matrix[kVectors];
        for (int v = 0; v < kVectors; ++v) of_matrix[v] = _mm256_load_si256(reinterpret_cast<const __m256i*>(panel.codes[four][v]));
#pragma GCC unroll 4
        for (int r = 0; r < kRows; ++r) {
          std::int32_t of_input;
          std::memcpy(&of_input, tile.codes + (four * kRows + r) * 4, sizeof of_input);
          const __m256i input = _mm256_set1_epi32(of_input);
          for (int v = 0; v < kVectors; ++v) {
            sums[r][v] = Products::add(sums[r][v], of_matrix[v], input);
            // Integers can be summed in any order, which GCC takes for leave to compute all products first, and has no registers for them.
            asm("" : "+x"(sums[r][v]));
          }
        }
      }
      for (int r = 0; r < kRows; ++r) {
        for (int v = 0; v < kVectors; ++v) {
          const __m256i of_run = Products::whole(sums[r][v]);
          whole[r][v] = first == 0 ? of_run : _mm256_add_epi32(whole[r][v], of_run);
        }
      }
    }
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      const RoundedScale& of_row = tile.scales[group * Type::kGroup / kRoundedElements * kRows + r];
      const Vector scale = hn::Set(d, of_row.scale);
      const Vector sum = hn::Set(d, Type::kGroup == kRoundedElements ? of_row.sum : tile.half_sums[group * kRows + r]);
      for (int v = 0; v < kVectors; ++v) {
        float* const to = output + (r * kVectors + v) * kLanes;
        const Vector products = hn::ConvertTo(d, hn::Vec<Integers>{whole[r][v]});
        const Vector factor = hn::Mul(hn::Load(d, panel.factors[group] + v * kLanes), scale);
        const Vector offset = hn::MulAdd(hn::Load(d, panel.offsets[group] + v * kLanes), sum, hn::Load(d, to));
        hn::Store(hn::MulAdd(factor, products, offset), d, to);
      }
    }
  }
}

template <class Type, class Products>
void product_of(const RoundedRowsArgs& args) {
  Panel panel;
  alignas(64) float products[kRows * kRoom];
  for (std::int64_t first = args.begin; first < args.end; first += kRoom) {
    const std::int64_t count = std::min<std::int64_t>(kRoom, args.end - first);
    for (std::int64_t column = 0; column < args.columns; column += kColumns) {
      const std::int64_t columns = std::min<std::int64_t>(kColumns, args.columns - column);
      fill<Type, Products::kSigned>(args, first, count, column, columns, panel);
      for (std::int64_t input = 0; input < args.inputs; input += kTileRows) {
        const std::byte* const tile = args.tiles + input / kTileRows * rounded_tile_bytes(args.columns);
        const TileAt at = {tile_codes(tile) + column * kTileRows, tile_scales(tile, args.columns) + column / kRoundedElements * kTileRows,
                           tile_half_sums(tile, args.columns) + column / 16 * kTileRows};
        tile_product<Type, Products>(panel, at, columns, products);
        const std::int64_t rows = std::min(kTileRows, args.inputs - input);
        for (std::int64_t row = 0; row < rows; ++row) {
          float* const to = args.output + (input + row) * args.stride + first;
          const float* const from = products + row * kRoom;
          for (std::int64_t i = 0; i < count; ++i) to[i] = column == 0 ? from[i] : to[i] + from[i];
        }
      }
    }
  }
}

template <class Visit>
void with_type(BlockType type, const Visit& visit) {
  switch (type) {
    case BlockType::kQ8_0:
      return visit(codes::Q8_0());
    case BlockType::kQ4_0:
      return visit(codes::Q4_0());
    case BlockType::kQ4_1:
      return visit(codes::Q4_1());
    case BlockType::kQ5_0:
      return visit(codes::Q5_0());
    case BlockType::kQ5_1:
      return visit(codes::Q5_1());
    case BlockType::kQ4_K:
      return visit(codes::Q4_K());
    case BlockType::kQ5_K:
      return visit(codes::Q5_K());
    case BlockType::kQ6_K:
      return visit(codes::Q6_K());
    case BlockType::kU4Z:
      return visit(codes::U4Z());
    case BlockType::kU8Z:
      return visit(codes::U8Z());
    default:
      return;  // has no such product
  }
}

void rounded_rows(const RoundedRowsArgs& args) {
  with_type(args.type, [&](auto type) {
    using Type = decltype(type);
    has_byte_products() ? product_of<Type, InOneInstruction>(args) : product_of<Type, InSixteenBits<Type::kTop> >(args);
  });
}

bool is_fast(BlockType type) {
  bool fast = false;
  // Codes of eight bits take half as many products as fp32 in vectors of the same size: no gain where fp32 has vectors of twice the size.
  with_type(type, [&](auto of) { fast = has_byte_products() || !InSixteenBits<decltype(of)::kTop>::kSigned || HWY_TARGET == HWY_AVX2; });
  return fast;
}

#endif  // HWY_TARGET

}  // namespace HWY_NAMESPACE
}  // namespace winnow::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace winnow::kernels {

HWY_EXPORT(rounded_rows);
HWY_EXPORT(is_fast);

LaunchStatus round_tile_cpu(const RoundTileArgs& args) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  constexpr std::int64_t kSome = 256;  // columns that are rounded at a time
  std::int8_t codes[kSome];
  RoundedScale scales[kSome / kRoundedElements];
  float half_sums[kSome / 16];
  constexpr float kZeros[kSome] = {};
  for (std::int64_t first = 0; first < args.columns; first += kSome) {
    const std::int64_t columns = std::min(kSome, args.columns - first);
    for (std::int64_t row = 0; row < kTileRows; ++row) {
      const float* const input = row < args.rows ? args.input + row * args.columns + first : kZeros;
      round_input_cpu({input, columns, codes, scales, half_sums});
      std::int8_t* const to = tile_codes(args.tile) + (first * kTileRows + row * 4);
      for (std::int64_t i = 0; i < columns / 4; ++i) std::memcpy(to + i * 4 * kTileRows, codes + 4 * i, 4);
      RoundedScale* const to_scales = tile_scales(args.tile, args.columns) + first / kRoundedElements * kTileRows + row;
      for (std::int64_t i = 0; i < columns / kRoundedElements; ++i) to_scales[i * kTileRows] = scales[i];
      float* const to_sums = tile_half_sums(args.tile, args.columns) + first / 16 * kTileRows + row;
      for (std::int64_t i = 0; i < columns / 16; ++i) to_sums[i * kTileRows] = half_sums[i];
    }
  }
  return LaunchStatus::kOk;
}

LaunchStatus rounded_rows_cpu(const RoundedRowsArgs& args) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  HWY_DYNAMIC_DISPATCH(rounded_rows)(args);
  return LaunchStatus::kOk;
}

bool rounded_rows_are_fast(BlockType type) { return HWY_DYNAMIC_DISPATCH(is_fast)(type); }

}  // namespace winnow::kernels
#endif  // HWY_ONCE
