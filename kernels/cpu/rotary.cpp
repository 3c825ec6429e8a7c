// Rotary embedding for CPUs, compiled once per instruction set and selected at run time (Highway); the compiler vectorises the loop.
#include "kernels/api/rotary.h"

#include <cstdint>

#include "kernels/cpu/run_checked.h"
#include "kernels/cpu/stored_elements.h"
#include "kernels/reference/check_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/rotary.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace winnow::kernels {
namespace HWY_NAMESPACE {

template <class Stored>
void rotate(const RotaryArgs& args) {
  using Number = typename Stored::Memory;
  for (std::int64_t row = 0; row < args.rows; ++row) {
    const Number* HWY_RESTRICT cosine = static_cast<const Number*>(args.cosine) + row * args.half;
    const Number* HWY_RESTRICT sine = static_cast<const Number*>(args.sine) + row * args.half;
    for (std::int64_t head = 0; head < args.heads; ++head) {
      const Number* HWY_RESTRICT from = static_cast<const Number*>(args.input) + args.input_strides.at(row, head);
      Number* HWY_RESTRICT first = static_cast<Number*>(args.output) + args.output_strides.at(row, head);
      Number* HWY_RESTRICT second = first + args.half;
      for (std::int64_t i = 0; i < args.half; ++i) {
        const float a = Stored::upcast(from[i]), b = Stored::upcast(from[args.half + i]);
        const float c = Stored::upcast(cosine[i]), s = Stored::upcast(sine[i]);
        first[i] = Stored::narrow(Stored::upcast(Stored::narrow(a * c)) - b * s);
        second[i] = Stored::narrow(Stored::upcast(Stored::narrow(b * c)) + a * s);
      }
    }
  }
}

void rotary(const RotaryArgs& args) {
  switch (args.type) {
    case ElementType::kFp32: return rotate<StoredFp32>(args);
    case ElementType::kBf16: return rotate<StoredBf16>(args);
    case ElementType::kFp16: return rotate<StoredFp16>(args);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace winnow::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace winnow::kernels {

HWY_EXPORT(rotary);

LaunchStatus rotary_cpu(const RotaryArgs& args) { return run_checked(args, HWY_DYNAMIC_DISPATCH(rotary)); }

}  // namespace winnow::kernels
#endif  // HWY_ONCE
