// int8 GEMVs for CPUs, compiled once per instruction set and selected at run time (Highway).
//
// Work: row by row, for the matrix is read once and in order, and unpacked once for up to four inputs; 32 codes at a time, unpacked to
// unsigned bytes and multiplied with the input's signed ones, four products to a 32-bit sum in one instruction where the processor has it
// (VNNI), in two (SSSE3's multiply of bytes) or by dequantising to 16 bits elsewhere. Four blocks at a time of the commonest types where
// there is AVX2 (four_blocks-inl.h). A value is factor * code + offset with factor and offset the same for 32 elements, or for 16 of them,
// so a row's sum is that of factor * scale * product and of offset * sum. No alignment is assumed.
#include "kernels/api/int8_gemv.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "kernels/cpu/run_checked.h"
#include "kernels/reference/check_products.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/int8_gemv.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "kernels/cpu/byte_products-inl.h"
#include "kernels/cpu/four_blocks-inl.h"
#include "kernels/cpu/half-inl.h"

HWY_BEFORE_NAMESPACE();
namespace winnow::kernels {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR  // no vectors: the definition does

void round_input(const RoundInputArgs& args) { round_input_reference(args); }
void int8_gemv(const Int8GemvArgs& args) { int8_gemv_reference(args); }

#else

namespace hn = hwy::HWY_NAMESPACE;

// 32 codes are one vector, or two.
using Codes = hn::CappedTag<std::uint8_t, 32>;
using SignedCodes = hn::Rebind<std::int8_t, Codes>;
using Sums = hn::Repartition<std::int32_t, Codes>;
using Floats = hn::Repartition<float, Codes>;
using CodeVector = hn::Vec<Codes>;
using Vector = hn::Vec<Floats>;

constexpr auto kLanes = static_cast<std::int64_t>(hn::MaxLanes(Codes()));
constexpr int kPieces = static_cast<int>(32 / kLanes);

// Four products in a row to a sum, or the sixteen of a 128-bit part to its four sums in another way.
template <bool vnni, int largest_code>
HWY_INLINE hn::Vec<Sums> products(CodeVector codes, hn::Vec<SignedCodes> input) {
  const Sums d;
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
  if constexpr (vnni) return hn::Vec<Sums>{add_byte_products(_mm256_setzero_si256(), codes.raw, input.raw)};
  // Pairs of products are summed in 16 bits, which the larger codes would leave.
  if constexpr (2 * 127 * largest_code <= 32767) {
    return hn::Vec<Sums>{_mm256_madd_epi16(_mm256_maddubs_epi16(codes.raw, input.raw), _mm256_set1_epi16(1))};
  }
#endif
  const hn::Repartition<std::int16_t, Codes> wide;
  const hn::Half<Codes> half;
  const hn::Half<SignedCodes> signed_half;
  hn::Vec<Sums> second = hn::Zero(d);
  hn::Vec<Sums> sum = hn::ReorderWidenMulAccumulate(d, hn::PromoteTo(wide, hn::LowerHalf(half, codes)),
                                                    hn::PromoteTo(wide, hn::LowerHalf(signed_half, input)), hn::Zero(d), second);
  sum = hn::ReorderWidenMulAccumulate(d, hn::PromoteTo(wide, hn::UpperHalf(half, codes)),
                                      hn::PromoteTo(wide, hn::UpperHalf(signed_half, input)), sum, second);
  return hn::Add(sum, second);
}

HWY_INLINE CodeVector low_nibbles(CodeVector bytes) { return hn::And(bytes, hn::Set(Codes(), 15)); }
HWY_INLINE CodeVector high_nibbles(CodeVector bytes) { return hn::ShiftRight<4>(bytes); }

// Elements [16 h, 16 h + 16) of a block are the low (h = 0) or high nibbles of 16 bytes: piece of the 32.
HWY_INLINE CodeVector split_nibbles(const std::uint8_t* nibbles, int piece) {
  if constexpr (kLanes == 32) {
    const hn::Half<Codes> half;
    const auto bytes = hn::LoadU(half, nibbles);
    return hn::Combine(Codes(), hn::ShiftRight<4>(bytes), hn::And(bytes, hn::Set(half, 15)));
  } else {
    const std::int64_t first = piece * kLanes;
    const CodeVector bytes = hn::LoadU(Codes(), nibbles + first % 16);
    return first < 16 ? low_nibbles(bytes) : high_nibbles(bytes);
  }
}

// The fifth bits of a block, element 0 lowest.
HWY_INLINE CodeVector with_fifths(CodeVector codes, const std::uint8_t* fifths, int piece) {
  std::uint32_t bits;
  std::memcpy(&bits, fifths, sizeof bits);
  const std::uint64_t of_piece = kLanes == 32 ? bits : bits >> (piece * kLanes) & ((std::uint64_t{1} << kLanes) - 1);
  std::uint8_t bytes[8];
  std::memcpy(bytes, &of_piece, sizeof bytes);
  return hn::Or(codes, hn::IfThenElseZero(hn::LoadMaskBits(Codes(), bytes), hn::Set(Codes(), 16)));
}

using Four = hn::FixedTag<float, 4>;

// The sums of a row so far. There are two sums of products, for neighbours in a row not to wait for each other.
struct SmallSum {  // of every second block of 32
  Vector products;
  hn::Vec<Four> offsets;
};
struct LargeSum {  // of blocks of 256
  Vector products[2];
  Vector offsets;
};

// Adds 32 elements; scale: factor of their codes times that of the input's.
template <bool vnni, int largest_code, class Unpack>
HWY_INLINE void add_32(const std::int8_t* input, Vector scale, Unpack&& unpack, Vector& sum) {
  for (int piece = 0; piece < kPieces; ++piece) {
    const auto codes = hn::LoadU(SignedCodes(), input + piece * kLanes);
    sum = hn::MulAdd(hn::ConvertTo(Floats(), products<vnni, largest_code>(unpack(piece), codes)), scale, sum);
  }
}

// A block of 32 of which all codes have one factor and the same offset, `places` times the factor.
template <bool vnni, int largest_code, class Unpack>
HWY_INLINE void add_scaled(const QuantisedInput& input, std::int64_t column, float factor, float places, Unpack&& unpack, SmallSum& sum) {
  const QuantisedScale& scale = input.scales[column / kQuantisedElements];
  sum.offsets = hn::MulAdd(hn::Set(Four(), factor), hn::Set(Four(), places * scale.sum), sum.offsets);
  add_32<vnni, largest_code>(input.codes + column, hn::Set(Floats(), factor * scale.scale), unpack, sum.products);
}

// A block of 32 that begins with the factor of its codes and the offset.
template <bool vnni, int largest_code, class Unpack>
HWY_INLINE void add_with_offset(const QuantisedInput& input, std::int64_t column, const std::uint8_t* block, Unpack&& unpack,
                                SmallSum& sum) {
  const hn::FixedTag<float, 2> two;
  const auto of_input = hn::LoadU(two, reinterpret_cast<const float*>(input.scales + column / kQuantisedElements));
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
  const hn::Vec<Four> own{_mm_cvtph_ps(_mm_loadu_si32(block))};
#else
  alignas(16) const float numbers[4] = {half_at(block), half_at(block + 2), 0.0F, 0.0F};
  const hn::Vec<Four> own = hn::Load(Four(), numbers);
#endif
  const hn::Vec<Four> factors = hn::Mul(own, hn::ZeroExtendVector(Four(), of_input));
  sum.offsets = hn::Add(sum.offsets, factors);  // the second of the four
  add_32<vnni, largest_code>(input.codes + column, hn::Set(Floats(), hn::GetLane(factors)), unpack, sum.products);
}

struct Scaled {  // of types whose blocks are add_scaled()
  static HWY_INLINE float offset(hn::Vec<Four> offsets) { return hn::GetLane(offsets); }
};
struct WithOffset {
  static HWY_INLINE float offset(hn::Vec<Four> offsets) { return hn::ExtractLane(offsets, 1); }
};

struct Q8_0 : Scaled {
  static constexpr std::int64_t kElements = 32, kBytes = 34;
  template <bool vnni>
  static HWY_INLINE void add(const QuantisedInput& input, std::int64_t column, const std::uint8_t* block, SmallSum& sum) {
    const auto unpack = [&](int piece) {
      return hn::Xor(hn::LoadU(Codes(), block + 2 + piece * kLanes), hn::Set(Codes(), 128));  // signed codes and 128
    };
    add_scaled<vnni, 255>(input, column, half_at(block), -128.0F, unpack, sum);
  }
};

struct Q4_0 : Scaled {
  static constexpr std::int64_t kElements = 32, kBytes = 18;
  template <bool vnni>
  static HWY_INLINE void add(const QuantisedInput& input, std::int64_t column, const std::uint8_t* block, SmallSum& sum) {
    add_scaled<vnni, 15>(
        input, column, half_at(block), -8.0F, [&](int piece) { return split_nibbles(block + 2, piece); }, sum);
  }
};

struct Q4_1 : WithOffset {
  static constexpr std::int64_t kElements = 32, kBytes = 20;
  template <bool vnni>
  static HWY_INLINE void add(const QuantisedInput& input, std::int64_t column, const std::uint8_t* block, SmallSum& sum) {
    add_with_offset<vnni, 15>(
        input, column, block, [&](int piece) { return split_nibbles(block + 4, piece); }, sum);
  }
};

struct U4Z : Scaled {
  static constexpr std::int64_t kElements = 32, kBytes = 20;
  template <bool vnni>
  static HWY_INLINE void add(const QuantisedInput& input, std::int64_t column, const std::uint8_t* block, SmallSum& sum) {
    add_scaled<vnni, 15>(
        input, column, half_at(block), -static_cast<float>(block[2]), [&](int piece) { return split_nibbles(block + 4, piece); }, sum);
  }
};

struct U8Z : Scaled {
  static constexpr std::int64_t kElements = 32, kBytes = 36;
  template <bool vnni>
  static HWY_INLINE void add(const QuantisedInput& input, std::int64_t column, const std::uint8_t* block, SmallSum& sum) {
    const auto unpack = [&](int piece) { return hn::LoadU(Codes(), block + 4 + piece * kLanes); };
    add_scaled<vnni, 255>(input, column, half_at(block), -static_cast<float>(block[2]), unpack, sum);
  }
};

struct Q5_0 : Scaled {
  static constexpr std::int64_t kElements = 32, kBytes = 22;
  template <bool vnni>
  static HWY_INLINE void add(const QuantisedInput& input, std::int64_t column, const std::uint8_t* block, SmallSum& sum) {
    const auto unpack = [&](int piece) { return with_fifths(split_nibbles(block + 6, piece), block + 2, piece); };
    add_scaled<vnni, 31>(input, column, half_at(block), -16.0F, unpack, sum);
  }
};

struct Q5_1 : WithOffset {
  static constexpr std::int64_t kElements = 32, kBytes = 24;
  template <bool vnni>
  static HWY_INLINE void add(const QuantisedInput& input, std::int64_t column, const std::uint8_t* block, SmallSum& sum) {
    const auto unpack = [&](int piece) { return with_fifths(split_nibbles(block + 8, piece), block + 4, piece); };
    add_with_offset<vnni, 31>(input, column, block, unpack, sum);
  }
};

// Scales and minima of 8 sub-blocks of 32, 6 bits each, in 12 bytes (block_types.cpp has the order): times those of the block and of the
// input, and the minima subtracted from the offsets.
class SubFactors {
 public:
  HWY_INLINE SubFactors(const QuantisedInput& input, std::int64_t column, const std::uint8_t* block, LargeSum& sum) {
    constexpr std::uint32_t kSix = 0x3F3F3F3F, kFour = 0x0F0F0F0F, kTwo = 0x03030303;
    std::uint32_t words[3];
    std::memcpy(words, block + 4, sizeof words);
    const std::uint32_t scales[2] = {words[0] & kSix, (words[2] & kFour) | ((words[0] >> 6 & kTwo) << 4)};
    const std::uint32_t minima[2] = {words[1] & kSix, (words[2] >> 4 & kFour) | ((words[1] >> 6 & kTwo) << 4)};
    std::uint8_t pairs[16];
    const hn::FixedTag<std::uint8_t, 8> eight;
    const hn::FixedTag<std::uint8_t, 16> sixteen;
    const auto low = hn::ZeroExtendVector(sixteen, hn::LoadU(eight, reinterpret_cast<const std::uint8_t*>(scales)));
    const auto high = hn::ZeroExtendVector(sixteen, hn::LoadU(eight, reinterpret_cast<const std::uint8_t*>(minima)));
    hn::StoreU(hn::InterleaveLower(sixteen, low, high), sixteen, pairs);
    const Floats d;
    const Vector own = hn::OddEven(hn::Set(d, half_at(block + 2)), hn::Set(d, half_at(block)));
    const auto* const of_input = reinterpret_cast<const float*>(input.scales + column / kQuantisedElements);
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    for (std::int64_t i = 0; i < 16; i += lanes) {
      const auto wide = hn::PromoteTo(hn::Rebind<std::int32_t, Floats>(), hn::LoadU(hn::Rebind<std::uint8_t, Floats>(), pairs + i));
      const Vector factors = hn::Mul(hn::Mul(hn::ConvertTo(d, wide), own), hn::LoadU(d, of_input + i));
      hn::StoreU(factors, d, factors_ + i);
      sum.offsets = hn::Sub(sum.offsets, factors);  // the odd ones
    }
  }
  HWY_INLINE Vector scale(int sub) const { return hn::Set(Floats(), factors_[2 * sub]); }
  static HWY_INLINE float offsets(const LargeSum& sum) {
    return hn::GetLane(hn::SumOfLanes(Floats(), hn::OddEven(sum.offsets, hn::Zero(Floats()))));
  }

 private:
  float factors_[16];  // of a sub-block's codes; of its minimum
};

struct Q4_K {
  static constexpr std::int64_t kElements = 256, kBytes = 144;
  template <bool vnni>
  static HWY_INLINE void add(const QuantisedInput& input, std::int64_t column, const std::uint8_t* block, LargeSum& sum) {
    const SubFactors subs(input, column, block, sum);
    for (int pair = 0; pair < 4; ++pair) {
      const auto bytes = [&](int piece) { return hn::LoadU(Codes(), block + 16 + pair * 32 + piece * kLanes); };
      const std::int8_t* const codes = input.codes + column + pair * 64;
      add_32<vnni, 15>(
          codes, subs.scale(2 * pair), [&](int piece) { return low_nibbles(bytes(piece)); }, sum.products[0]);
      add_32<vnni, 15>(
          codes + 32, subs.scale(2 * pair + 1), [&](int piece) { return high_nibbles(bytes(piece)); }, sum.products[1]);
    }
  }
  static HWY_INLINE float offsets(const LargeSum& sum) { return SubFactors::offsets(sum); }
};

struct Q5_K {
  static constexpr std::int64_t kElements = 256, kBytes = 176;
  template <bool vnni>
  static HWY_INLINE void add(const QuantisedInput& input, std::int64_t column, const std::uint8_t* block, LargeSum& sum) {
    const SubFactors subs(input, column, block, sum);
    for (int sub = 0; sub < 8; ++sub) {
      const auto unpack = [&](int piece) {
        const CodeVector bytes = hn::LoadU(Codes(), block + 48 + sub / 2 * 32 + piece * kLanes);
        const CodeVector fifths = hn::LoadU(Codes(), block + 16 + piece * kLanes);
        const auto set = hn::TestBit(fifths, hn::Set(Codes(), static_cast<std::uint8_t>(1 << sub)));
        return hn::Or(sub % 2 == 0 ? low_nibbles(bytes) : high_nibbles(bytes), hn::IfThenElseZero(set, hn::Set(Codes(), 16)));
      };
      add_32<vnni, 31>(input.codes + column + sub * 32, subs.scale(sub), unpack, sum.products[sub % 2]);
    }
  }
  static HWY_INLINE float offsets(const LargeSum& sum) { return SubFactors::offsets(sum); }
};

// Two bits of each byte, from bit 2 `place` on, to bits 4 and 5.
HWY_INLINE CodeVector high_pair(CodeVector bytes, int place) {
  const CodeVector three = hn::Set(Codes(), 3);
  const CodeVector pair = place == 0   ? hn::And(bytes, three)
                          : place == 1 ? hn::And(hn::ShiftRight<2>(bytes), three)
                          : place == 2 ? hn::And(hn::ShiftRight<4>(bytes), three)
                                       : hn::ShiftRight<6>(bytes);
  return hn::ShiftLeft<4>(pair);
}

// Factors of 16 elements each, over the sums of a vector of codes.
HWY_INLINE Vector factors_of_16(const float* factors) {
  if constexpr (kLanes == 32) {
    const hn::Half<Floats> half;
    return hn::Combine(Floats(), hn::Set(half, factors[1]), hn::Set(half, factors[0]));
  } else {
    return hn::Set(Floats(), factors[0]);
  }
}

struct Q6_K {
  static constexpr std::int64_t kElements = 256, kBytes = 210;
  template <bool vnni>
  static HWY_INLINE void add(const QuantisedInput& input, std::int64_t column, const std::uint8_t* block, LargeSum& sum) {
    const Floats d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const auto* const of_input = reinterpret_cast<const float*>(input.scales + column / kQuantisedElements);
    const Vector own = hn::Set(d, half_at(block + 208));
    float factors[16];
    for (std::int64_t i = 0; i < 16; i += lanes) {
      const auto bytes = hn::LoadU(hn::Rebind<std::int8_t, Floats>(), reinterpret_cast<const std::int8_t*>(block + 192 + i));
      const Vector scales = hn::Mul(hn::ConvertTo(d, hn::PromoteTo(hn::Rebind<std::int32_t, Floats>(), bytes)), own);
      sum.offsets = hn::NegMulAdd(scales, hn::LoadU(d, input.half_sums + column / 16 + i), sum.offsets);  // times 32 at the end
      hn::StoreU(hn::Mul(scales, hn::DupEven(hn::LoadU(d, of_input + i))), d, factors + i);
    }
    for (int row = 0; row < 8; ++row) {  // of 32 elements; four are a half of the block
      for (int piece = 0; piece < kPieces; ++piece) {
        const CodeVector bytes = hn::LoadU(Codes(), block + row / 4 * 64 + row % 2 * 32 + piece * kLanes);
        const CodeVector high = high_pair(hn::LoadU(Codes(), block + 128 + row / 4 * 32 + piece * kLanes), row % 4);
        const CodeVector codes = hn::Or(row % 4 < 2 ? low_nibbles(bytes) : high_nibbles(bytes), high);
        const auto of_row = hn::LoadU(SignedCodes(), input.codes + column + row * 32 + piece * kLanes);
        Vector& products_of = sum.products[row % 2];
        const Vector factor = factors_of_16(factors + 2 * row + piece * kLanes / 16);
        products_of = hn::MulAdd(hn::ConvertTo(d, products<vnni, 63>(codes, of_row)), factor, products_of);
      }
    }
  }
  static HWY_INLINE float offsets(const LargeSum& sum) { return 32.0F * hn::GetLane(hn::SumOfLanes(Floats(), sum.offsets)); }
};

// How far ahead of a row's blocks the matrix is fetched: beyond what the processor would do by itself, which starts anew with every page.
constexpr std::int64_t kBytesAhead = 2048;
constexpr std::int64_t kCacheLine = 64;

HWY_INLINE void fetch(const std::uint8_t* block, std::int64_t bytes) {
  for (std::int64_t i = 0; i < bytes; i += kCacheLine) hwy::Prefetch(block + kBytesAhead + i);
}

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
// How four blocks of a type are taken together, where they are.
template <class Type>
struct Fours {};
template <>
struct Fours<Q8_0> : FourBlocks<8, Offset::kNone, 2> {};
template <>
struct Fours<Q4_0> : FourBlocks<4, Offset::kEight, 2> {};
template <>
struct Fours<Q4_1> : FourBlocks<4, Offset::kStored, 4> {};
template <>
struct Fours<U4Z> : FourBlocks<4, Offset::kZeroPoint, 4> {};
template <>
struct Fours<U8Z> : FourBlocks<8, Offset::kZeroPoint, 4> {};
#endif

// Each sum is the same, to the bit, however many inputs there are. Loops over them are unrolled: what inputs unpack alike is unpacked once.
template <bool vnni, class Type, int inputs>
HWY_INLINE void small_row(const QuantisedInput (&input)[inputs], std::int64_t columns, const std::uint8_t* block, float (&sums)[inputs]) {
  float of_fours[inputs] = {};
  std::int64_t column = 0;
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
  if constexpr (requires { Fours<Type>::kBytes; }) {
    static_assert(Fours<Type>::kBytes == Type::kBytes);
    FourSum sum[inputs];
    for (FourSum& each : sum) each = {{_mm256_setzero_ps(), _mm256_setzero_ps()}, _mm256_setzero_ps()};
    for (; column + 4 * Type::kElements <= columns; column += 4 * Type::kElements, block += 4 * Type::kBytes) {
      fetch(block, 4 * Type::kBytes);
#pragma GCC unroll 4
      for (int n = 0; n < inputs; ++n) Fours<Type>::template add<vnni>(block, input[n], column, sum[n]);
    }
#pragma GCC unroll 4
    for (int n = 0; n < inputs; ++n) sums[n] = of_fours[n] = Fours<Type>::whole(sum[n]);
    if (column == columns) return;
  }
#endif
  SmallSum even[inputs];
  SmallSum odd[inputs];
#pragma GCC unroll 4
  for (int n = 0; n < inputs; ++n) even[n] = odd[n] = {hn::Zero(Floats()), hn::Zero(Four())};
  for (; column + 2 * Type::kElements <= columns; column += 2 * Type::kElements, block += 2 * Type::kBytes) {
    fetch(block, 2 * Type::kBytes);
#pragma GCC unroll 4
    for (int n = 0; n < inputs; ++n) {
      Type::template add<vnni>(input[n], column, block, even[n]);
      Type::template add<vnni>(input[n], column + Type::kElements, block + Type::kBytes, odd[n]);
    }
  }
#pragma GCC unroll 4
  for (int n = 0; n < inputs; ++n) {
    if (column < columns) Type::template add<vnni>(input[n], column, block, even[n]);
    const float rest = hn::GetLane(hn::SumOfLanes(Floats(), hn::Add(even[n].products, odd[n].products))) +
                       Type::offset(hn::Add(even[n].offsets, odd[n].offsets));
    sums[n] = of_fours[n] + rest;
  }
}

template <bool vnni, class Type, int inputs>
HWY_INLINE void large_row(const QuantisedInput (&input)[inputs], std::int64_t columns, const std::uint8_t* block, float (&sums)[inputs]) {
  const Vector zero = hn::Zero(Floats());
  LargeSum sum[inputs];
  for (LargeSum& each : sum) each = {{zero, zero}, zero};
  for (std::int64_t column = 0; column < columns; column += Type::kElements, block += Type::kBytes) {
    fetch(block, Type::kBytes);
#pragma GCC unroll 4
    for (int n = 0; n < inputs; ++n) Type::template add<vnni>(input[n], column, block, sum[n]);
  }
#pragma GCC unroll 4
  for (int n = 0; n < inputs; ++n)
    sums[n] = hn::GetLane(hn::SumOfLanes(Floats(), hn::Add(sum[n].products[0], sum[n].products[1]))) + Type::offsets(sum[n]);
}

// Rows [begin, end) with inputs [first, first + inputs). Not inlined: one input's loop must not pay for the registers of several.
template <bool vnni, class Type, int inputs>
HWY_NOINLINE void products_of(const Int8GemvArgs& args, std::int64_t begin, std::int64_t end, std::int64_t first) {
  const std::int64_t bytes = args.columns / Type::kElements * Type::kBytes;
  QuantisedInput input[inputs];
#pragma GCC unroll 4
  for (int n = 0; n < inputs; ++n) input[n] = args.input_at(first + n);
  for (std::int64_t row = begin; row < end; ++row) {
    const std::int64_t stored = args.row_of != nullptr ? args.row_of[row] : row;
    const auto* const blocks = static_cast<const std::uint8_t*>(args.matrix) + stored * bytes;
    float sums[inputs];
    if constexpr (Type::kElements == kQuantisedElements) {
      small_row<vnni, Type>(input, args.columns, blocks, sums);
    } else {
      large_row<vnni, Type>(input, args.columns, blocks, sums);
    }
#pragma GCC unroll 4
    for (int n = 0; n < inputs; ++n) args.output[(first + n) * args.output_stride + row] = sums[n];
  }
}

// Several inputs take a few rows at a time, so that all find them in the first-level cache.
template <bool vnni, class Type>
void product_of(const Int8GemvArgs& args) {
  if (args.inputs == 1) return products_of<vnni, Type, 1>(args, args.begin, args.end, 0);
  constexpr std::int64_t kRows = 4;
  for (std::int64_t begin = args.begin; begin < args.end; begin += kRows) {
    const std::int64_t end = begin + kRows < args.end ? begin + kRows : args.end;
    std::int64_t first = 0;
    for (; first + 4 <= args.inputs; first += 4) products_of<vnni, Type, 4>(args, begin, end, first);
    for (; first + 2 <= args.inputs; first += 2) products_of<vnni, Type, 2>(args, begin, end, first);
    if (first < args.inputs) products_of<vnni, Type, 1>(args, begin, end, first);
  }
}

template <bool vnni>
void product_with(const Int8GemvArgs& args) {
  switch (args.type) {
    case BlockType::kQ8_0: return product_of<vnni, Q8_0>(args);
    case BlockType::kQ4_0: return product_of<vnni, Q4_0>(args);
    case BlockType::kQ4_1: return product_of<vnni, Q4_1>(args);
    case BlockType::kQ5_0: return product_of<vnni, Q5_0>(args);
    case BlockType::kQ5_1: return product_of<vnni, Q5_1>(args);
    case BlockType::kQ4_K: return product_of<vnni, Q4_K>(args);
    case BlockType::kQ5_K: return product_of<vnni, Q5_K>(args);
    case BlockType::kQ6_K: return product_of<vnni, Q6_K>(args);
    case BlockType::kU4Z: return product_of<vnni, U4Z>(args);
    case BlockType::kU8Z: return product_of<vnni, U8Z>(args);
    default: return;  // refused before
  }
}

void int8_gemv(const Int8GemvArgs& args) { has_byte_products() ? product_with<true>(args) : product_with<false>(args); }

// 16 elements: their codes, and the sum of these.
HWY_INLINE std::int32_t round_16(const float* input, float steps, std::int8_t* codes) {
  const Sums d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  hn::Vec<Sums> sum = hn::Zero(d);
  for (std::int64_t i = 0; i < 16; i += lanes) {
    const hn::Vec<Sums> rounded = hn::NearestInt(hn::Mul(hn::LoadU(Floats(), input + i), hn::Set(Floats(), steps)));
    hn::StoreU(hn::DemoteTo(hn::Rebind<std::int8_t, Sums>(), rounded), hn::Rebind<std::int8_t, Sums>(), codes + i);
    sum = hn::Add(sum, rounded);
  }
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

// The largest magnitude of 32 elements; NaN if one of them is not finite.
HWY_INLINE float largest_of(const float* input) {
  const Floats d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  Vector largest = hn::Zero(d);
  Vector nothing = hn::Zero(d);
  for (std::int64_t i = 0; i < kQuantisedElements; i += lanes) {
    const Vector values = hn::LoadU(d, input + i);
    largest = hn::Max(largest, hn::Abs(values));
    nothing = hn::MulAdd(values, hn::Zero(d), nothing);
  }
  if (!hn::AllTrue(d, hn::Eq(nothing, hn::Zero(d)))) return std::numeric_limits<float>::quiet_NaN();
  return hn::GetLane(hn::MaxOfLanes(d, largest));
}

void round_input(const RoundInputArgs& args) {
  for (std::int64_t first = 0; first < args.columns; first += kQuantisedElements) {
    const float scale = largest_of(args.input + first) / 127.0F;
    const float steps = scale > 0.0F ? 1.0F / scale : 0.0F;  // scale may be NaN
    std::int32_t whole = 0;
    const bool codes = std::isfinite(steps) && steps > 0.0F;
    for (std::int64_t at = first; at < first + kQuantisedElements; at += 16) {
      std::int32_t sum = 0;
      if (codes) {
        sum = round_16(args.input + at, steps, args.codes + at);
      } else {
        std::memset(args.codes + at, 0, 16);
      }
      args.half_sums[at / 16] = scale * static_cast<float>(sum);
      whole += sum;
    }
    args.scales[first / kQuantisedElements] = {scale, scale * static_cast<float>(whole)};
  }
  for (std::int64_t first = 0; first + 64 <= args.columns; first += 64) {
    std::memcpy(args.paired + first, args.codes + first, 16);
    std::memcpy(args.paired + first + 16, args.codes + first + 32, 16);
    std::memcpy(args.paired + first + 32, args.codes + first + 16, 16);
    std::memcpy(args.paired + first + 48, args.codes + first + 48, 16);
  }
}

#endif  // HWY_TARGET

}  // namespace HWY_NAMESPACE
}  // namespace winnow::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace winnow::kernels {

HWY_EXPORT(round_input);
HWY_EXPORT(int8_gemv);

LaunchStatus round_input_cpu(const RoundInputArgs& args) { return run_checked(args, HWY_DYNAMIC_DISPATCH(round_input)); }

LaunchStatus int8_gemv_cpu(const Int8GemvArgs& args) { return run_checked(args, HWY_DYNAMIC_DISPATCH(int8_gemv)); }

}  // namespace winnow::kernels
#endif  // HWY_ONCE
