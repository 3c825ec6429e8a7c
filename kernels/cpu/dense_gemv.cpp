// GEMVs with dense matrices for CPUs, compiled once per instruction set and selected at run time (Highway).
//
// Work: row by row and nothing fetched ahead by hand: one stream in order is what processors guess best. Several rows at a time, which
// would upcast the input once for all of them, were read at half the speed on the machine this was measured on. No alignment is assumed.
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

template <class Element>
void product_of(const DenseGemvArgs& args) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(Floats()));
  for (std::int64_t row = args.begin; row < args.end; ++row) {
    const auto* const elements = static_cast<const Element*>(args.matrix) + row * args.columns;
    Vector sums[kSums];
    for (Vector& sum : sums) sum = hn::Zero(Floats());
    std::int64_t i = 0;
    for (; i + kSums * lanes <= args.columns; i += kSums * lanes) {
      for (int k = 0; k < kSums; ++k)
        sums[k] = hn::MulAdd(load(elements + i + k * lanes), hn::LoadU(Floats(), args.input + i + k * lanes), sums[k]);
    }
    for (; i + lanes <= args.columns; i += lanes) sums[0] = hn::MulAdd(load(elements + i), hn::LoadU(Floats(), args.input + i), sums[0]);
    for (int half = kSums / 2; half > 0; half /= 2) {
      for (int k = 0; k < half; ++k) sums[k] = hn::Add(sums[k], sums[k + half]);
    }
    double rest = args.added != nullptr ? static_cast<double>(args.added[row]) : 0.0;
    for (; i < args.columns; ++i) rest += element(elements, args.type, i) * static_cast<double>(args.input[i]);
    args.output[row] = hn::GetLane(hn::SumOfLanes(Floats(), sums[0])) + static_cast<float>(rest);
  }
}

void dense_gemv(const DenseGemvArgs& args) {
  switch (args.type) {
    case ElementType::kFp32:
      return product_of<float>(args);
    case ElementType::kBf16:
      return product_of<hwy::bfloat16_t>(args);
    case ElementType::kFp16:
      return product_of<hwy::float16_t>(args);
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
