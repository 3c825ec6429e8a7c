// GEMVs with dense matrices for CPUs, compiled once per instruction set and selected at run time (Highway).
//
// Work: row by row and nothing fetched ahead by hand: one stream in order is what processors guess best. Several rows at a time, which
// would upcast the input once for all of them, were read at half the speed on the machine this was measured on. A row is upcast once for
// two inputs; further ones find it in the first-level cache. No alignment is assumed.
#include "kernels/api/dense_gemv.h"

#include <cstdint>

#include "kernels/cpu/run_checked.h"
#include "kernels/reference/check_products.h"
#include "kernels/reference/element.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/dense_gemv.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace winnow::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Vector = hn::Vec<Floats>;

constexpr int kSums = 4;  // of neighbours in a row, which do not wait for each other

HWY_INLINE Vector load(const float* from) { return hn::LoadU(Floats(), from); }
HWY_INLINE Vector load(const hwy::bfloat16_t* from) {
  return hn::PromoteTo(Floats(), hn::LoadU(hn::Rebind<hwy::bfloat16_t, Floats>(), from));
}
HWY_INLINE Vector load(const hwy::float16_t* from) {
  return hn::PromoteTo(Floats(), hn::LoadU(hn::Rebind<hwy::float16_t, Floats>(), from));
}

// Sums up a row for inputs [first, first + inputs).
template <int inputs, class Element>
HWY_INLINE void add_up(const DenseGemvArgs& args, std::int64_t row, std::int64_t first, double added) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(Floats()));
  const auto* const elements = static_cast<const Element*>(args.matrix) + row * args.columns;
  const float* const input = args.input + first * args.columns;
  Vector sums[inputs][kSums];
  for (int n = 0; n < inputs; ++n) {
    for (Vector& sum : sums[n]) sum = hn::Zero(Floats());
  }
  std::int64_t i = 0;
  for (; i + kSums * lanes <= args.columns; i += kSums * lanes) {
    for (int k = 0; k < kSums; ++k) {
      const Vector numbers = load(elements + i + k * lanes);
      for (int n = 0; n < inputs; ++n)
        sums[n][k] = hn::MulAdd(numbers, hn::LoadU(Floats(), input + n * args.columns + i + k * lanes), sums[n][k]);
    }
  }
  for (; i + lanes <= args.columns; i += lanes) {
    const Vector numbers = load(elements + i);
    for (int n = 0; n < inputs; ++n) sums[n][0] = hn::MulAdd(numbers, hn::LoadU(Floats(), input + n * args.columns + i), sums[n][0]);
  }
  for (int n = 0; n < inputs; ++n) {
    for (int half = kSums / 2; half > 0; half /= 2) {
      for (int k = 0; k < half; ++k) sums[n][k] = hn::Add(sums[n][k], sums[n][k + half]);
    }
    double rest = added;
    for (std::int64_t at = i; at < args.columns; ++at)
      rest += element(elements, args.type, at) * static_cast<double>(input[n * args.columns + at]);
    args.output[(first + n) * args.output_stride + row] = hn::GetLane(hn::SumOfLanes(Floats(), sums[n][0])) + static_cast<float>(rest);
  }
}

template <class Element>
void product_of(const DenseGemvArgs& args) {
  const auto added = [&](std::int64_t row) { return args.added != nullptr ? static_cast<double>(args.added[row]) : 0.0; };
  if (args.inputs == 1) {
    for (std::int64_t row = args.begin; row < args.end; ++row) add_up<1, Element>(args, row, 0, added(row));
    return;
  }
  for (std::int64_t row = args.begin; row < args.end; ++row) {
    const double first_added = added(row);  // the first input's output may stand there
    std::int64_t input = 0;
    for (; input + 2 <= args.inputs; input += 2) add_up<2, Element>(args, row, input, first_added);
    if (input < args.inputs) add_up<1, Element>(args, row, input, first_added);
  }
}

void dense_gemv(const DenseGemvArgs& args) {
  switch (args.type) {
    case ElementType::kFp32: return product_of<float>(args);
    case ElementType::kBf16: return product_of<hwy::bfloat16_t>(args);
    case ElementType::kFp16: return product_of<hwy::float16_t>(args);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace winnow::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace winnow::kernels {

HWY_EXPORT(dense_gemv);

LaunchStatus dense_gemv_cpu(const DenseGemvArgs& args) { return run_checked(args, HWY_DYNAMIC_DISPATCH(dense_gemv)); }

}  // namespace winnow::kernels
#endif  // HWY_ONCE
