// Four blocks of 32 codes at a time times an int8 input, for processors with AVX2: their scales become one vector of factors, and 4-bit
// codes are unpacked from two blocks at once.
//
// For int8_gemv.cpp, which is compiled once per instruction set: included after highway.h, within each of them.
#if defined(WINNOW_KERNELS_CPU_FOUR_BLOCKS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WINNOW_KERNELS_CPU_FOUR_BLOCKS_INL_H_
#undef WINNOW_KERNELS_CPU_FOUR_BLOCKS_INL_H_
#else
#define WINNOW_KERNELS_CPU_FOUR_BLOCKS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <cstring>

#include "kernels/api/int8_gemv.h"
#include "kernels/cpu/byte_products-inl.h"

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2

HWY_BEFORE_NAMESPACE();
namespace winnow::kernels {
namespace HWY_NAMESPACE {

// The sum of a row so far. offsets: the part that belongs to the sums of the input, in the odd ones.
struct FourSum {
  __m256 products[2];
  __m256 offsets;
};

// The part of a value besides factor * code.
enum class Offset : int {
  kNone,       // codes have a sign
  kEight,      // -8 * factor
  kStored,     // a value after the factor
  kZeroPoint,  // -factor * a byte behind the factor; codes of eight bits are taken less 128, and it, too
};

// bits: 4 or 8; head: bytes before the codes; stored: of a whole block.
template <int bits, Offset offset, int head>
struct FourBlocks {
  static constexpr std::int64_t kBytes = head + 4 * bits;

  // Four products of codes without a sign; a pair of those of four bits and of another such vector fit into 16 bits.
  template <bool vnni>
  static HWY_INLINE __m256i of_nibbles(__m256i low, __m256i low_input, __m256i high, __m256i high_input) {
    if constexpr (vnni) return add_byte_products(add_byte_products(_mm256_setzero_si256(), low, low_input), high, high_input);
    const __m256i pairs = _mm256_add_epi16(_mm256_maddubs_epi16(low, low_input), _mm256_maddubs_epi16(high, high_input));
    return _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
  }
  // For codes with one: their magnitudes with inputs of their sign, of which a pair fits, too.
  template <bool vnni>
  static HWY_INLINE __m256i of_signed(__m256i codes, __m256i input) {
    const __m256i magnitudes = _mm256_abs_epi8(codes);
    const __m256i turned = _mm256_sign_epi8(input, codes);
    if constexpr (vnni) return add_byte_products(_mm256_setzero_si256(), magnitudes, turned);
    return _mm256_madd_epi16(_mm256_maddubs_epi16(magnitudes, turned), _mm256_set1_epi16(1));
  }

  static HWY_INLINE __m256i load(const void* at) { return _mm256_loadu_si256(static_cast<const __m256i*>(at)); }
  static HWY_INLINE __m256i load_two(const void* first, const void* second) {
    const __m128i low = _mm_loadu_si128(static_cast<const __m128i*>(first));
    return _mm256_inserti128_si256(_mm256_castsi128_si256(low), _mm_loadu_si128(static_cast<const __m128i*>(second)), 1);
  }
  static HWY_INLINE std::int32_t word(const std::uint8_t* block) {
    std::int32_t four;
    std::memcpy(&four, block, sizeof four);
    return four;
  }

  // Factor times that of the input, and factor times the input's sum, of each block in turn; adds to the offsets.
  static HWY_INLINE __m256 factors(const std::uint8_t* blocks, const QuantisedScale* scales, __m256& offsets) {
    const __m128i heads = _mm_setr_epi32(word(blocks), word(blocks + kBytes), word(blocks + 2 * kBytes), word(blocks + 3 * kBytes));
    const __m128i twice = _mm_setr_epi8(0, 1, 0, 1, 4, 5, 4, 5, 8, 9, 8, 9, 12, 13, 12, 13);
    const __m256 own = _mm256_cvtph_ps(offset == Offset::kStored ? heads : _mm_shuffle_epi8(heads, twice));
    const __m256 all = _mm256_mul_ps(own, _mm256_loadu_ps(reinterpret_cast<const float*>(scales)));
    if constexpr (offset == Offset::kEight || offset == Offset::kStored) offsets = _mm256_add_ps(offsets, all);
    if constexpr (offset == Offset::kZeroPoint) {
      const __m256i halves = _mm256_cvtepu16_epi32(heads);  // the byte and one that says nothing in the odd ones
      const __m256i zeros = _mm256_sub_epi32(_mm256_and_si256(halves, _mm256_set1_epi32(255)), _mm256_set1_epi32(bits == 8 ? 128 : 0));
      offsets = _mm256_fnmadd_ps(all, _mm256_cvtepi32_ps(zeros), offsets);
    }
    return all;
  }

  template <bool vnni>
  static HWY_INLINE void add(const std::uint8_t* blocks, const QuantisedInput& given, std::int64_t column, FourSum& sum) {
    const __m256 all = factors(blocks, given.scales + column / kQuantisedElements, sum.offsets);
    if constexpr (bits == 4) {
      for (int pair = 0; pair < 2; ++pair) {
        const std::uint8_t* const first = blocks + 2 * pair * kBytes;
        const std::int8_t* const input = given.paired + column + 64 * pair;
        const __m256i bytes = load_two(first + head, first + kBytes + head);
        const __m256i nibble = _mm256_set1_epi8(15);
        const __m256i products = of_nibbles<vnni>(_mm256_and_si256(bytes, nibble), load(input),
                                                  _mm256_and_si256(_mm256_srli_epi16(bytes, 4), nibble), load(input + 32));
        const int at = 4 * pair;
        const __m256 scale = _mm256_permutevar8x32_ps(all, _mm256_setr_epi32(at, at, at, at, at + 2, at + 2, at + 2, at + 2));
        sum.products[pair] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(products), scale, sum.products[pair]);
      }
    } else {
      for (int block = 0; block < 4; ++block) {
        __m256i own = load(blocks + block * kBytes + head);
        if constexpr (offset == Offset::kZeroPoint) own = _mm256_xor_si256(own, _mm256_set1_epi8(-128));
        const __m256 scale = _mm256_permutevar8x32_ps(all, _mm256_set1_epi32(2 * block));
        const __m256i products = of_signed<vnni>(own, load(given.codes + column + 32 * block));
        sum.products[block % 2] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(products), scale, sum.products[block % 2]);
      }
    }
  }

  static HWY_INLINE float whole(const FourSum& sum) {
    const __m256 times = offset == Offset::kEight ? _mm256_set1_ps(-8.0F) : _mm256_set1_ps(1.0F);
    const __m256 odd = _mm256_blend_ps(_mm256_setzero_ps(), sum.offsets, 0xAA);
    const __m256 all = _mm256_fmadd_ps(odd, times, _mm256_add_ps(sum.products[0], sum.products[1]));
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(all), _mm256_extractf128_ps(all, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace winnow::kernels
HWY_AFTER_NAMESPACE();

#endif  // AVX2
#endif  // per target
