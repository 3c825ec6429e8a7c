// Gated activations for CPUs, compiled once per instruction set and chosen at run time (Highway).
//
// Work: some hundred elements of a row at a time are upcast, activated and multiplied while they are in the first-level cache, so that
// memory is read and written once. All smooth activations but GELU are x over 1 + e^-z for some z; the exponential is taken of -|z|, which
// cannot overflow. No alignment is assumed.
#include "kernels/api/gated_activation.h"

#include <algorithm>
#include <cstdint>

#include "kernels/cpu/run_checked.h"
#include "kernels/cpu/stored_elements.h"
#include "kernels/reference/check_products.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/gated_activation.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace winnow::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, 16>;
using Vector = hn::Vec<Floats>;

constexpr std::int64_t kChunk = 512;  // a multiple of every vector's lanes

// x / (1 + e^-z)
HWY_INLINE Vector times_logistic(Floats d, Vector x, Vector z) {
  const Vector power = hn::Exp(d, hn::Neg(hn::Abs(z)));
  const Vector one = hn::Set(d, 1.0F);
  const Vector numerator = hn::IfThenElse(hn::Lt(z, hn::Zero(d)), power, one);
  return hn::Mul(x, hn::Div(numerator, hn::Add(one, power)));
}

HWY_INLINE Vector silu(Floats d, Vector x) { return times_logistic(d, x, x); }

HWY_INLINE Vector quick_gelu(Floats d, Vector x) { return times_logistic(d, x, hn::Mul(hn::Set(d, 1.702F), x)); }

// (1 + tanh u) / 2 = 1 / (1 + e^-2u)
HWY_INLINE Vector gelu_tanh(Floats d, Vector x) {
  constexpr float kTwiceRoot = 1.5957691F;  // 2 sqrt(2 / pi)
  const Vector slope = hn::MulAdd(hn::Set(d, kTwiceRoot * 0.044715F), hn::Mul(x, x), hn::Set(d, kTwiceRoot));
  return times_logistic(d, x, hn::Mul(x, slope));
}

// Phi(-|x|) is e^(-x^2 / 2) times a polynomial in 1 / (1 + 0.3 |x|), here one of least relative error (6e-8) up to |x| = 15.
HWY_INLINE Vector gelu(Floats d, Vector x) {
  const Vector size = hn::Abs(x);
  const Vector one = hn::Set(d, 1.0F);
  const Vector t = hn::Div(one, hn::MulAdd(hn::Set(d, 0.3F), size, one));
  Vector tail = hn::Set(d, 0.03842559F);
  tail = hn::MulAdd(tail, t, hn::Set(d, -0.16939567F));
  tail = hn::MulAdd(tail, t, hn::Set(d, 0.2291334F));
  tail = hn::MulAdd(tail, t, hn::Set(d, -0.07704654F));
  tail = hn::MulAdd(tail, t, hn::Set(d, 0.14290749F));
  tail = hn::MulAdd(tail, t, hn::Set(d, 0.09452563F));
  tail = hn::MulAdd(tail, t, hn::Set(d, 0.12196057F));
  tail = hn::MulAdd(tail, t, hn::Set(d, 0.11948208F));
  tail = hn::MulAdd(tail, t, hn::Set(d, 7.496137e-6F));
  tail = hn::Mul(tail, hn::Exp(d, hn::Mul(hn::Set(d, -0.5F), hn::Mul(x, x))));
  return hn::Mul(x, hn::IfThenElse(hn::Lt(x, hn::Zero(d)), tail, hn::Sub(one, tail)));
}

HWY_INLINE Vector relu(Floats d, Vector x) { return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Zero(d), x); }

template <Vector (*kActivation)(Floats, Vector)>
HWY_INLINE void activate(float* HWY_RESTRICT numbers, std::int64_t count) {
  const Floats d;
  for (std::int64_t i = 0; i < count; i += static_cast<std::int64_t>(hn::Lanes(d)))
    hn::Store(kActivation(d, hn::Load(d, numbers + i)), d, numbers + i);
}

template <class Stored, Vector (*kActivation)(Floats, Vector)>
void gate_rows(const GatedActivationArgs& args) {
  using Number = typename Stored::Memory;
  alignas(64) float numbers[kChunk] = {};  // behind `count`, what an earlier chunk left
  for (std::int64_t row = 0; row < args.rows; ++row) {
    for (std::int64_t first = 0; first < args.columns; first += kChunk) {
      const std::int64_t count = std::min(kChunk, args.columns - first);
      const Number* HWY_RESTRICT gate = static_cast<const Number*>(args.gate) + row * args.stride + first;
      const Number* HWY_RESTRICT up = static_cast<const Number*>(args.up) + row * args.stride + first;
      Number* HWY_RESTRICT output = static_cast<Number*>(args.output) + row * args.columns + first;
      for (std::int64_t i = 0; i < count; ++i) numbers[i] = Stored::upcast(gate[i]);
      activate<kActivation>(numbers, count);
      for (std::int64_t i = 0; i < count; ++i)
        output[i] = Stored::narrow(Stored::upcast(Stored::narrow(numbers[i])) * Stored::upcast(up[i]));
    }
  }
}

template <class Stored>
void gate_rows_of(const GatedActivationArgs& args) {
  switch (args.activation) {
    case Activation::kSilu: return gate_rows<Stored, silu>(args);
    case Activation::kGelu: return gate_rows<Stored, gelu>(args);
    case Activation::kGeluTanh: return gate_rows<Stored, gelu_tanh>(args);
    case Activation::kQuickGelu: return gate_rows<Stored, quick_gelu>(args);
    case Activation::kRelu: return gate_rows<Stored, relu>(args);
  }
}

void gated_activation(const GatedActivationArgs& args) {
  switch (args.type) {
    case ElementType::kFp32: return gate_rows_of<StoredFp32>(args);
    case ElementType::kBf16: return gate_rows_of<StoredBf16>(args);
    case ElementType::kFp16: return gate_rows_of<StoredFp16>(args);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace winnow::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace winnow::kernels {

HWY_EXPORT(gated_activation);

LaunchStatus gated_activation_cpu(const GatedActivationArgs& args) { return run_checked(args, HWY_DYNAMIC_DISPATCH(gated_activation)); }

}  // namespace winnow::kernels
#endif  // HWY_ONCE
