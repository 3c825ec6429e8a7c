// int8 GEMM with quantised matrices for CPUs that multiply bytes (AVX2 and better), compiled once per instruction set and selected at run
// time (Highway). Elsewhere the reference.
//
// Work: some rows of the matrix and columns at a time are unpacked into a panel that stays in the first cache, four codes of each of its
// rows side by side; then every tile of the input goes by. Four codes of an input row are multiplied with the panel's rows at once, two
// vectors of them. What all codes of a type lie above themselves is a multiple of the sum of the input's codes, with which the integers
// begin. Without an instruction for four products to a 32-bit sum (VNNI) pairs are summed in 16 bits over as many codes as that
// holds: 32 of four bits, 16 of five, 8 of six, and of eight a pair, of which the codes' magnitudes are multiplied with inputs of their
// sign. Sums of groups are scaled and added in fp32, a panel's to the output's.
#include "kernels/api/int8_gemm.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

#include "kernels/cpu/run_checked.h"
#include "kernels/cpu/stored_elements.h"
#include "kernels/reference/check_products.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/int8_gemm.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

#include "kernels/cpu/block_codes-inl.h"
#include "kernels/cpu/byte_products-inl.h"

HWY_BEFORE_NAMESPACE();
namespace winnow::kernels {
namespace HWY_NAMESPACE {

#if !(HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2)

void round_tile(const RoundTileArgs& args) { round_tile_reference(args); }
void int8_gemm(const Int8GemmArgs& args) { int8_gemm_reference(args); }
bool is_fast(BlockType) { return false; }

#else

namespace hn = hwy::HWY_NAMESPACE;

constexpr int kRows = static_cast<int>(kTileRows);
constexpr int kVectors = 2;      // of a panel
constexpr int kLeastGroup = 16;  // codes with a factor of their own

// Rows of the matrix, one in each lane of a vector, and some columns of theirs.
template <int lanes>
struct Panel {
  static constexpr int kRoom = kVectors * lanes;
  static constexpr int kColumns = 16384 / kRoom;  // whole blocks of every type
  using Floats = hn::FixedTag<float, lanes>;
  using Integers = hn::FixedTag<std::int32_t, lanes>;

  alignas(64) std::int32_t codes[kColumns / 4][kRoom];  // four each
  alignas(64) float factors[kColumns / kLeastGroup][kRoom];
  alignas(64) float offsets[kColumns / kLeastGroup][kRoom];
};

// How codes are multiplied: add() adds the products of a vector's codes and an input's four to sums that begin with begin() and hold for
// kRun fours, end() adds these to whole ones. kCentre: how far below themselves codes lie in the panel.
struct InOneInstruction {
  static constexpr int kLanes = HWY_TARGET == HWY_AVX3 ? 16 : 8;
  static constexpr int kCentre = 0;
  static constexpr int kRun = 8;
  using Sums = hn::Vec<hn::FixedTag<std::int32_t, kLanes> >;
  static HWY_INLINE Sums begin(Sums whole) { return whole; }
  static HWY_INLINE Sums add(Sums sums, Sums codes, Sums input) { return Sums{add_byte_products(sums.raw, codes.raw, input.raw)}; }
  static HWY_INLINE Sums end(Sums sums, Sums) { return sums; }
};
template <int top>
struct InSixteenBits {
  static constexpr int kLanes = 8;
  static constexpr int kCentre = 0;
  static constexpr int kRun = top < 16 ? 8 : top < 32 ? 4 : 2;
  static_assert(kRun * 2 * 127 * top <= 32767);
  using Sums = hn::Vec<hn::FixedTag<std::int32_t, kLanes> >;
  static HWY_INLINE Sums begin(Sums) { return Sums{_mm256_setzero_si256()}; }
  static HWY_INLINE Sums add(Sums sums, Sums codes, Sums input) {
    return Sums{_mm256_add_epi16(sums.raw, _mm256_maddubs_epi16(codes.raw, input.raw))};
  }
  static HWY_INLINE Sums end(Sums sums, Sums whole) {
    return Sums{_mm256_add_epi32(whole.raw, _mm256_madd_epi16(sums.raw, _mm256_set1_epi16(1)))};
  }
};
// For eight bits: a code's magnitude, and its sign with the input, so that a pair of products fits into 16 bits.
template <>
struct InSixteenBits<255> {
  static constexpr int kLanes = 8;
  static constexpr int kCentre = 128;
  static constexpr int kRun = 8;
  static_assert(2 * 127 * 128 <= 32767);
  using Sums = hn::Vec<hn::FixedTag<std::int32_t, kLanes> >;
  static HWY_INLINE Sums begin(Sums whole) { return whole; }
  static HWY_INLINE Sums add(Sums sums, Sums codes, Sums input) {
    const __m256i pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(codes.raw), _mm256_sign_epi8(input.raw, codes.raw));
    return Sums{_mm256_add_epi32(sums.raw, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)))};
  }
  static HWY_INLINE Sums end(Sums sums, Sums) { return sums; }
};

using FourIntegers = hn::FixedTag<std::int32_t, 4>;
using FourCodes = hn::Vec<FourIntegers>;

// Transposes: element j of rows[i] becomes element i of rows[j].
HWY_INLINE void transpose(FourCodes (&rows)[4]) {
  const FourIntegers d;
  const hn::Repartition<std::int64_t, FourIntegers> pairs;
  const auto low = [&](FourCodes a, FourCodes b) { return hn::BitCast(pairs, hn::InterleaveLower(d, a, b)); };
  const auto high = [&](FourCodes a, FourCodes b) { return hn::BitCast(pairs, hn::InterleaveUpper(d, a, b)); };
  const auto a = low(rows[0], rows[1]), b = low(rows[2], rows[3]), c = high(rows[0], rows[1]), e = high(rows[2], rows[3]);
  rows[0] = hn::BitCast(d, hn::InterleaveLower(pairs, a, b));
  rows[1] = hn::BitCast(d, hn::InterleaveUpper(pairs, a, b));
  rows[2] = hn::BitCast(d, hn::InterleaveLower(pairs, c, e));
  rows[3] = hn::BitCast(d, hn::InterleaveUpper(pairs, c, e));
}

// Rows [first, first + count) of the matrix, columns [column, column + columns), into the panel; rows that it has room for beyond them
// become zeros.
template <class Type, int centre, int lanes>
void fill(const Int8GemmArgs& args, std::int64_t first, std::int64_t count, std::int64_t column, std::int64_t columns,
          Panel<lanes>& panel) {
  constexpr int kGroups = Type::kElements / Type::kGroup;
  static_assert(centre == 0 || centre == 128);
  const FourIntegers d;
  const std::int64_t bytes = args.columns / Type::kElements * Type::kBytes;
  for (int row = 0; row < panel.kRoom; row += 4) {
    const std::uint8_t* blocks[4] = {};
    for (int i = 0; i < 4 && row + i < count; ++i) {
      const std::int64_t stored = args.row_of != nullptr ? args.row_of[first + row + i] : first + row + i;
      blocks[i] = static_cast<const std::uint8_t*>(args.matrix) + stored * bytes + column / Type::kElements * Type::kBytes;
    }
    for (std::int64_t k = 0; k < columns; k += Type::kElements) {
      alignas(64) std::uint8_t unpacked[4][Type::kElements] = {};
      codes::Line lines[4][kGroups] = {};
      for (int i = 0; i < 4; ++i) {
        if (blocks[i] == nullptr) continue;
        Type::unpack(blocks[i], unpacked[i], lines[i]);
        blocks[i] += Type::kBytes;
      }
      for (int at = 0; at < Type::kElements; at += 16) {
        FourCodes rows[4];
        for (int i = 0; i < 4; ++i) rows[i] = hn::Load(d, reinterpret_cast<const std::int32_t*>(unpacked[i] + at));
        transpose(rows);
        for (int i = 0; i < 4; ++i) {
          if constexpr (centre == 128) rows[i] = hn::Xor(rows[i], hn::Set(d, static_cast<std::int32_t>(0x80808080)));
          hn::Store(rows[i], d, panel.codes[(k + at) / 4 + i] + row);
        }
      }
      for (int group = 0; group < kGroups; ++group) {
        for (int i = 0; i < 4; ++i) {
          panel.factors[k / Type::kGroup + group][row + i] = lines[i][group].factor;
          if constexpr (Type::kHasOffset) panel.offsets[k / Type::kGroup + group][row + i] = lines[i][group].offset;
        }
      }
    }
  }
}

// A tile's part at the columns that a panel has.
struct TileAt {
  const std::int8_t* codes;
  const QuantisedScale* scales;
  const std::int32_t* half_sums;
};

// sums: [kRows, rows of the panel], to which the columns' products are added, or which begin with them.
template <class Type, class Products>
HWY_INLINE void tile_product(const Panel<Products::kLanes>& panel, TileAt tile, std::int64_t columns, bool begins,
                             float* HWY_RESTRICT of_tile) {
  constexpr int kLanes = Products::kLanes;
  constexpr int kSteps = Type::kGroup / 4;
  constexpr int kRun = std::min(kSteps, Products::kRun);
  constexpr int kCentre = Type::kCentre - Products::kCentre;
  using Sums = typename Products::Sums;
  const typename Panel<kLanes>::Floats d;
  const typename Panel<kLanes>::Integers integers;
  hn::Vec<decltype(d)> total[kRows][kVectors];
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) total[r][v] = begins ? hn::Zero(d) : hn::LoadU(d, of_tile + (r * kVectors + v) * kLanes);
  }
  const std::int64_t groups = columns / Type::kGroup;
  for (std::int64_t group = 0; group < groups; ++group) {
    Sums whole[kRows][kVectors];
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      Sums of_centre = hn::Zero(integers);
      if constexpr (kCentre != 0) {
        std::int32_t sum = 0;
        for (int half = 0; half < Type::kGroup / 16; ++half) sum += tile.half_sums[(group * (Type::kGroup / 16) + half) * kRows + r];
        of_centre = hn::Set(integers, -kCentre * sum);
      }
      for (int v = 0; v < kVectors; ++v) whole[r][v] = of_centre;
    }
#pragma GCC unroll 4
    for (int first = 0; first < kSteps; first += kRun) {
      Sums sums[kRows][kVectors];
      for (int r = 0; r < kRows; ++r) {
        for (int v = 0; v < kVectors; ++v) sums[r][v] = Products::begin(whole[r][v]);
      }
#pragma GCC unroll 8
      for (int step = first; step < first + kRun; ++step) {
        const std::int64_t four = group * kSteps + step;
        Sums of_matrix[kVectors];
        for (int v = 0; v < kVectors; ++v) of_matrix[v] = hn::Load(integers, panel.codes[four] + v * kLanes);
#pragma GCC unroll 4
        for (int r = 0; r < kRows; ++r) {
          std::int32_t of_input;
          std::memcpy(&of_input, tile.codes + (four * kRows + r) * 4, sizeof of_input);
          const Sums input = hn::Set(integers, of_input);
          for (int v = 0; v < kVectors; ++v) {
            sums[r][v] = Products::add(sums[r][v], of_matrix[v], input);
            // Integers can be summed in any order, which GCC takes for leave to compute all products first, and has no registers for them.
            asm("" : "+v"(sums[r][v].raw));
          }
        }
      }
      for (int r = 0; r < kRows; ++r) {
        for (int v = 0; v < kVectors; ++v) whole[r][v] = Products::end(sums[r][v], whole[r][v]);
      }
    }
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      const QuantisedScale& of_row = tile.scales[group * Type::kGroup / kQuantisedElements * kRows + r];
      const auto scale = hn::Set(d, of_row.scale);
      for (int v = 0; v < kVectors; ++v) {
        const auto factor = hn::Mul(hn::Load(d, panel.factors[group] + v * kLanes), scale);
        total[r][v] = hn::MulAdd(factor, hn::ConvertTo(d, whole[r][v]), total[r][v]);
        if constexpr (Type::kHasOffset) {
          static_assert(Type::kGroup == kQuantisedElements);
          total[r][v] = hn::MulAdd(hn::Load(d, panel.offsets[group] + v * kLanes), hn::Set(d, of_row.sum), total[r][v]);
        }
      }
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) hn::StoreU(total[r][v], d, of_tile + (r * kVectors + v) * kLanes);
  }
}

template <class Stored>
void store(const float* sums, std::int64_t room, std::int64_t inputs, std::int64_t count, std::int64_t stride, void* output,
           std::int64_t first) {
  auto* to = static_cast<typename Stored::Memory*>(output) + first;
  for (std::int64_t input = 0; input < inputs; ++input, to += stride, sums += room) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = Stored::narrow(sums[i]);
  }
}

template <class Type, class Products>
void product_of(const Int8GemmArgs& args) {
  Panel<Products::kLanes> panel;
  constexpr int kRoom = panel.kRoom;
  static_assert(kRoom <= kMatrixRows);
  const auto stored = args.output_type == ElementType::kFp32   ? &store<StoredFp32>
                      : args.output_type == ElementType::kBf16 ? &store<StoredBf16>
                                                               : &store<StoredFp16>;
  for (std::int64_t first = args.begin; first < args.end; first += kRoom) {
    const std::int64_t count = std::min<std::int64_t>(kRoom, args.end - first);
    std::int64_t column = 0;
    do {
      const std::int64_t columns = std::min<std::int64_t>(panel.kColumns, args.columns - column);
      fill<Type, Products::kCentre>(args, first, count, column, columns, panel);
      for (std::int64_t input = 0; input < args.inputs; input += kTileRows) {
        const std::byte* const tile = args.tiles + input / kTileRows * int8_tile_bytes(args.columns);
        const TileAt at = {tile_codes(tile) + column * kTileRows, tile_scales(tile, args.columns) + column / kQuantisedElements * kTileRows,
                           tile_half_sums(tile, args.columns) + column / 16 * kTileRows};
        tile_product<Type, Products>(panel, at, columns, column == 0, args.sums + input * kRoom);
      }
      column += panel.kColumns;
    } while (column < args.columns);
    stored(args.sums, kRoom, args.inputs, count, args.stride, args.output, first);
  }
}

template <class Visit>
void with_type(BlockType type, const Visit& visit) {
  switch (type) {
    case BlockType::kQ8_0: return visit(codes::Q8_0());
    case BlockType::kQ4_0: return visit(codes::Q4_0());
    case BlockType::kQ4_1: return visit(codes::Q4_1());
    case BlockType::kQ5_0: return visit(codes::Q5_0());
    case BlockType::kQ5_1: return visit(codes::Q5_1());
    case BlockType::kQ4_K: return visit(codes::Q4_K());
    case BlockType::kQ5_K: return visit(codes::Q5_K());
    case BlockType::kQ6_K: return visit(codes::Q6_K());
    case BlockType::kU4Z: return visit(codes::U4Z());
    case BlockType::kU8Z: return visit(codes::U8Z());
    default: return;  // has no such product
  }
}

void int8_gemm(const Int8GemmArgs& args) {
  with_type(args.type, [&](auto type) {
    using Type = decltype(type);
    has_byte_products() ? product_of<Type, InOneInstruction>(args) : product_of<Type, InSixteenBits<Type::kTop> >(args);
  });
}

// Sixteen quantised elements.
HWY_INLINE FourCodes codes_of(const float* numbers, float steps) {
  const hn::FixedTag<float, 8> d;
  const hn::FixedTag<std::int8_t, 8> bytes;
  const auto codes = [&](const float* from) { return hn::DemoteTo(bytes, hn::NearestInt(hn::Mul(hn::LoadU(d, from), hn::Set(d, steps)))); };
  return hn::BitCast(FourIntegers(), hn::Combine(hn::FixedTag<std::int8_t, 16>(), codes(numbers + 8), codes(numbers)));
}

// The bits of the largest magnitude of each number and those 4, 8, ... behind it, of 32. Magnitudes are ordered as their bits are, and what
// is not finite is larger than all others.
HWY_INLINE FourCodes largest_bits(const float* numbers) {
  const hn::FixedTag<std::int32_t, 8> d;
  const auto magnitudes = [&](int i) {
    return hn::And(hn::LoadU(d, reinterpret_cast<const std::int32_t*>(numbers) + i), hn::Set(d, 0x7FFFFFFF));
  };
  const auto largest = hn::Max(hn::Max(magnitudes(0), magnitudes(8)), hn::Max(magnitudes(16), magnitudes(24)));
  return hn::Max(hn::LowerHalf(FourIntegers(), largest), hn::UpperHalf(FourIntegers(), largest));
}

void round_tile(const RoundTileArgs& args) {
  static_assert(kTileRows == 4);
  const FourIntegers d;
  const hn::Rebind<float, FourIntegers> floats;
  const hn::Repartition<std::uint8_t, FourIntegers> bytes;
  const hn::Repartition<std::int16_t, FourIntegers> shorts;
  constexpr float kZeros[kQuantisedElements] = {};
  for (std::int64_t first = 0; first < args.columns; first += kQuantisedElements) {
    const float* input[kRows];
    FourCodes largest[kRows];
    for (std::int64_t r = 0; r < kRows; ++r) {
      input[r] = r < args.rows ? args.input + r * args.columns + first : kZeros;
      largest[r] = largest_bits(input[r]);
    }
    transpose(largest);
    const FourCodes of_rows = hn::Max(hn::Max(largest[0], largest[1]), hn::Max(largest[2], largest[3]));
    const auto finite = hn::Lt(of_rows, hn::Set(d, 0x7F800000));
    const auto scale = hn::IfThenElse(hn::RebindMask(floats, finite), hn::Div(hn::BitCast(floats, of_rows), hn::Set(floats, 127.0F)),
                                      hn::Set(floats, std::numeric_limits<float>::quiet_NaN()));
    // Values that are not finite, or too small to divide by, have the code 0.
    const auto inverse = hn::Div(hn::Set(floats, 1.0F), scale);
    const auto steps = hn::IfThenElseZero(hn::Lt(inverse, hn::Set(floats, std::numeric_limits<float>::infinity())), inverse);
    alignas(16) float steps_of[kRows];
    hn::Store(steps, floats, steps_of);
    FourCodes sums = hn::Zero(d);
    for (std::int64_t half = 0; half < 2; ++half) {
      FourCodes codes[kRows];
      for (int r = 0; r < kRows; ++r) {
        codes[r] = steps_of[r] > 0.0F ? codes_of(input[r] + 16 * half, steps_of[r]) : hn::Zero(d);
      }
      transpose(codes);
      auto pairs = hn::Zero(shorts);
      for (int i = 0; i < 4; ++i) {
        hn::StoreU(codes[i], d, reinterpret_cast<std::int32_t*>(tile_codes(args.tile) + (first + 16 * half + 4 * i) * kTileRows));
        pairs = hn::Add(pairs, decltype(pairs){_mm_maddubs_epi16(hn::Set(bytes, 1).raw, codes[i].raw)});
      }
      const FourCodes of_half{_mm_madd_epi16(pairs.raw, hn::Set(shorts, 1).raw)};
      hn::StoreU(of_half, d, tile_half_sums(args.tile, args.columns) + (first / 16 + half) * kTileRows);
      sums = hn::Add(sums, of_half);
    }
    auto* const scales = reinterpret_cast<float*>(tile_scales(args.tile, args.columns) + first / kQuantisedElements * kTileRows);
    const auto of_elements = hn::Mul(scale, hn::ConvertTo(floats, sums));
    hn::StoreU(hn::InterleaveLower(floats, scale, of_elements), floats, scales);
    hn::StoreU(hn::InterleaveUpper(floats, scale, of_elements), floats, scales + 4);
  }
}

bool is_fast(BlockType type) {
  bool fast = false;
  // Codes of eight bits take half as many products as fp32 in vectors of the same size: no gain where fp32 has vectors of twice the size.
  with_type(type,
            [&](auto of) { fast = has_byte_products() || InSixteenBits<decltype(of)::kTop>::kCentre == 0 || HWY_TARGET == HWY_AVX2; });
  return fast;
}

#endif  // HWY_TARGET

}  // namespace HWY_NAMESPACE
}  // namespace winnow::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace winnow::kernels {

HWY_EXPORT(round_tile);
HWY_EXPORT(int8_gemm);
HWY_EXPORT(is_fast);

LaunchStatus round_tile_cpu(const RoundTileArgs& args) { return run_checked(args, HWY_DYNAMIC_DISPATCH(round_tile)); }

LaunchStatus int8_gemm_cpu(const Int8GemmArgs& args) { return run_checked(args, HWY_DYNAMIC_DISPATCH(int8_gemm)); }

bool int8_gemm_is_fast(BlockType type) { return HWY_DYNAMIC_DISPATCH(is_fast)(type); }

}  // namespace winnow::kernels
#endif  // HWY_ONCE
