// GEMVs with quantised matrices for CPUs, compiled once per instruction set and selected at run time (Highway).
//
// Work: a few hundred elements of a row at a time are dequantised into the first-level cache, for a few inputs together. The common types
// use the int8 GEMV instead (int8_gemv.cpp). No alignment is assumed.
#include "kernels/api/block_gemv.h"

#include <algorithm>
#include <cstdint>

#include "kernels/cpu/run_checked.h"
#include "kernels/reference/check_products.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/block_gemv.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace winnow::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, 16>;
using Vector = hn::Vec<Floats>;

constexpr std::int64_t kDequantised = 512;  // elements at a time
constexpr std::int64_t kInputs = 8;         // that read them

// Up to kInputs inputs from `first` on.
void product_of_inputs(const BlockGemvArgs& args, std::int64_t first) {
  const std::int64_t inputs = std::min(kInputs, args.inputs - first);
  const Floats d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const std::int64_t bytes = row_bytes(args.type, args.columns);
  alignas(64) float values[kDequantised];
  for (std::int64_t row = args.begin; row < args.end; ++row) {
    const std::int64_t stored = args.row_of != nullptr ? args.row_of[row] : row;
    const auto* blocks = static_cast<const std::uint8_t*>(args.matrix) + stored * bytes;
    Vector sums[kInputs];
    float rests[kInputs];
    for (std::int64_t k = 0; k < inputs; ++k) {
      sums[k] = hn::Zero(d);
      rests[k] = 0.0F;
    }
    for (std::int64_t column = 0; column < args.columns; column += kDequantised) {
      const std::int64_t count = std::min(kDequantised, args.columns - column);
      dequantise(args.type, blocks, count, values);
      blocks += count / block_elements(args.type) * block_bytes(args.type);
      for (std::int64_t k = 0; k < inputs; ++k) {
        const float* const input = args.input + (first + k) * args.input_stride + column;
        Vector sum = sums[k];
        std::int64_t i = 0;
        for (; i + lanes <= count; i += lanes) sum = hn::MulAdd(hn::LoadU(d, values + i), hn::LoadU(d, input + i), sum);
        for (; i < count; ++i) rests[k] += values[i] * input[i];
        sums[k] = sum;
      }
    }
    for (std::int64_t k = 0; k < inputs; ++k)
      args.output[(first + k) * args.output_stride + row] = hn::GetLane(hn::SumOfLanes(d, sums[k])) + rests[k];
  }
}

void block_gemv(const BlockGemvArgs& args) {
  for (std::int64_t first = 0; first < args.inputs; first += kInputs) product_of_inputs(args, first);
}

}  // namespace HWY_NAMESPACE
}  // namespace winnow::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace winnow::kernels {

HWY_EXPORT(block_gemv);

LaunchStatus block_gemv_cpu(const BlockGemvArgs& args) { return run_checked(args, HWY_DYNAMIC_DISPATCH(block_gemv)); }

}  // namespace winnow::kernels
#endif  // HWY_ONCE
