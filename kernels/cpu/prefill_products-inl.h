// In which steps prefill attention multiplies, and how its operands are packed for that.
//
// For prefill_attention.cpp, which is compiled once per instruction set: included after highway.h. A step is one element in fp32
// (Singles) or, where the processor multiplies and adds pairs of bf16, two elements (Pairs). Accumulation is fp32.
#ifndef WINNOW_KERNELS_CPU_PREFILL_SIZES
#define WINNOW_KERNELS_CPU_PREFILL_SIZES

#include <cstdint>

namespace winnow::kernels {

constexpr int kBlockRows = 6;            // with 4 vectors 24 sums, and 5 registers beside them
constexpr std::int64_t kKeyTile = 256;   // keys
constexpr std::int64_t kMostLanes = 16;  // a line of the cache
constexpr std::int64_t round_up(std::int64_t value, std::int64_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace winnow::kernels
#endif  // WINNOW_KERNELS_CPU_PREFILL_SIZES

#if defined(WINNOW_KERNELS_CPU_PREFILL_PRODUCTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WINNOW_KERNELS_CPU_PREFILL_PRODUCTS_INL_H_
#undef WINNOW_KERNELS_CPU_PREFILL_PRODUCTS_INL_H_
#else
#define WINNOW_KERNELS_CPU_PREFILL_PRODUCTS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstring>
#include <type_traits>

#include "kernels/reference/element.h"

HWY_BEFORE_NAMESPACE();
namespace winnow::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, kMostLanes>;
using Vector = hn::Vec<Floats>;

constexpr auto kLanes = static_cast<std::int64_t>(hn::MaxLanes(Floats()));
// Six rows of four vectors need 32 registers.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL || HWY_ARCH_ARM_A64
constexpr int kVectors = 4;
#else
constexpr int kVectors = 2;
#endif
constexpr std::int64_t kPanel = kVectors * kLanes;
static_assert(kKeyTile % kPanel == 0);

HWY_INLINE Vector load(Floats d, const float* from) { return hn::LoadU(d, from); }
HWY_INLINE Vector load(Floats d, const hwy::bfloat16_t* from) {
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<hwy::bfloat16_t, Floats>(), from));
}
HWY_INLINE Vector load(Floats d, const hwy::float16_t* from) {
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<hwy::float16_t, Floats>(), from));
}

// A row of the result: times `factor`, rounded to nearest and even.
HWY_INLINE void store_row(const float* HWY_RESTRICT row, float factor, std::int64_t count, float* HWY_RESTRICT to) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = row[i] * factor;
}
HWY_INLINE void store_row(const float* HWY_RESTRICT row, float factor, std::int64_t count, hwy::float16_t* to) {
  for (std::int64_t i = 0; i < count; ++i) set_element(to, ElementType::kFp16, i, row[i] * factor);
}
HWY_INLINE void store_row(const float* HWY_RESTRICT row, float factor, std::int64_t count, hwy::bfloat16_t* to) {
  const Floats d;
  const hn::RebindToUnsigned<Floats> unsigned_bits;
  const hn::RebindToSigned<Floats> signed_bits;
  const hn::Rebind<std::uint16_t, Floats> half;
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const Vector value = hn::Mul(hn::LoadU(d, row + i), hn::Set(d, factor));
    const auto bits = hn::BitCast(unsigned_bits, value);
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(unsigned_bits, 1));
    const auto rounded = hn::ShiftRight<16>(hn::Add(bits, hn::Add(odd, hn::Set(unsigned_bits, 0x7FFF))));
    const auto kept = hn::IfThenElse(hn::RebindMask(unsigned_bits, hn::IsNaN(value)), hn::Set(unsigned_bits, 0x7FC0), rounded);
    hn::StoreU(hn::DemoteTo(half, hn::BitCast(signed_bits, kept)), half, reinterpret_cast<std::uint16_t*>(to) + i);
  }
  for (; i < count; ++i) set_element(to, ElementType::kBf16, i, row[i] * factor);
}

// One element in fp32 a step, whatever the type T.
template <class T>
struct Singles {
  using Element = T;
  using Step = float;
  static constexpr std::int64_t kElements = 1;
  static HWY_INLINE Vector multiply_add(hn::Vec<hn::Rebind<Step, Floats>> left, hn::Vec<hn::Rebind<Step, Floats>> right, Vector sum) {
    return hn::MulAdd(left, right, sum);
  }
  static HWY_INLINE void store_weights(Vector first, Vector second, Step* to) {
    hn::StoreU(first, Floats(), to);
    hn::StoreU(second, Floats(), to + kLanes);
  }
  // The weights of vector v of a row that store_weights() wrote.
  static HWY_INLINE Vector load_weights(const Step* row, std::int64_t v) { return hn::LoadU(Floats(), row + v * kLanes); }
  static void pack_row(const T* from, std::int64_t count, Step* to) {
    std::int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes) hn::StoreU(load(Floats(), from + i), Floats(), to + i);
    for (; i < count; ++i) to[i] = static_cast<float>(element(from, kType, i));
  }
  static void pack_values(const T* low, const T* /*high*/, std::int64_t count, Step* to) { pack_row(low, count, to); }

 private:
  static constexpr ElementType kType = sizeof(T) == 4                       ? ElementType::kFp32
                                       : std::is_same_v<T, hwy::bfloat16_t> ? ElementType::kBf16
                                                                            : ElementType::kFp16;
};

#if HWY_TARGET == HWY_AVX3
// Highway 1.0.3 knows no target with products of bf16 pairs, so they are asked for here and written out.
HWY_INLINE bool multiplies_pairs() { return __builtin_cpu_supports("avx512bf16") != 0; }

// Two elements of bf16 a step, the first in the low half. Weights are rounded to bf16.
struct Pairs {
  using Element = hwy::bfloat16_t;
  using Step = std::uint32_t;
  static constexpr std::int64_t kElements = 2;
  using Steps = hn::Rebind<Step, Floats>;
  static HWY_INLINE Vector multiply_add(hn::Vec<Steps> left, hn::Vec<Steps> right, Vector sum) {
    asm("vdpbf16ps %2, %1, %0" : "+v"(sum.raw) : "v"(left.raw), "v"(right.raw));
    return sum;
  }
  static HWY_INLINE void store_weights(Vector first, Vector second, Step* to) {
    __m512i both;
    asm("vcvtne2ps2bf16 %1, %2, %0" : "=v"(both) : "v"(first.raw), "v"(second.raw));
    _mm512_storeu_si512(to, both);
  }
  static HWY_INLINE Vector load_weights(const Step* row, std::int64_t v) {
    return load(Floats(), reinterpret_cast<const Element*>(row) + v * kLanes);
  }
  static void pack_row(const Element* from, std::int64_t count, Step* to) {
    to[count / 2] = 0;  // of an odd count
    std::memcpy(to, from, static_cast<std::size_t>(count) * 2);
  }
  // high is null where there are no more.
  static void pack_values(const Element* low_half, const Element* high_half, std::int64_t count, Step* to) {
    const auto* const low = reinterpret_cast<const std::uint16_t*>(low_half);
    const auto* const high = reinterpret_cast<const std::uint16_t*>(high_half);
    if (high == nullptr) {
      for (std::int64_t i = 0; i < count; ++i) to[i] = low[i];
      return;
    }
    const Steps d;
    const hn::Rebind<std::uint16_t, Steps> half;
    std::int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes) {
      const auto above = hn::ShiftLeft<16>(hn::PromoteTo(d, hn::LoadU(half, high + i)));
      hn::StoreU(hn::Or(hn::PromoteTo(d, hn::LoadU(half, low + i)), above), d, to + i);
    }
    for (; i < count; ++i) to[i] = low[i] | static_cast<Step>(high[i]) << 16;
  }
};
#endif

}  // namespace HWY_NAMESPACE
}  // namespace winnow::kernels
HWY_AFTER_NAMESPACE();

#endif  // per target
