// Powers of two for softmax weights: cheaper than Highway's Exp, because inputs that cannot occur here are not handled.
//
// For files of kernels/cpu, which are compiled once per instruction set: included after highway.h, within each of them.
#if defined(WINNOW_KERNELS_CPU_EXP2_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WINNOW_KERNELS_CPU_EXP2_INL_H_
#undef WINNOW_KERNELS_CPU_EXP2_INL_H_
#else
#define WINNOW_KERNELS_CPU_EXP2_INL_H_
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace winnow::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// 2^x for x of at most 1, to 3e-7 of it; 0 below 2^-127, NaN of NaN and of infinity. x = whole + rest, and 2^rest by a polynomial of least
// relative error on [-1/2, 1/2] (its constant rounded to 1, so that 2^0 is 1).
template <class D, class Vector = hn::Vec<D>>
HWY_INLINE Vector exp2_of(D d, Vector x) {
  const hn::RebindToSigned<D> bits;
  // Adding it leaves the whole part in the lowest bits.
  const Vector shift = hn::Set(d, 12582912.0F);
  const Vector least = hn::Set(d, -127.0F);
  const Vector bounded = hn::IfThenElse(hn::Lt(x, least), least, x);
  const Vector shifted = hn::Add(bounded, shift);
  const Vector rest = hn::Sub(bounded, hn::Sub(shifted, shift));
  Vector power = hn::Set(d, 0.0013276472F);
  power = hn::MulAdd(power, rest, hn::Set(d, 0.009675542F));
  power = hn::MulAdd(power, rest, hn::Set(d, 0.055507131F));
  power = hn::MulAdd(power, rest, hn::Set(d, 0.24022120F));
  power = hn::MulAdd(power, rest, hn::Set(d, 0.69314694F));
  power = hn::MulAdd(power, rest, hn::Set(d, 1.0F));
  const auto exponent = hn::ShiftLeft<23>(hn::Add(hn::BitCast(bits, shifted), hn::Set(bits, 127)));
  return hn::Mul(power, hn::BitCast(d, exponent));
}

}  // namespace HWY_NAMESPACE
}  // namespace winnow::kernels
HWY_AFTER_NAMESPACE();

#endif  // per target
