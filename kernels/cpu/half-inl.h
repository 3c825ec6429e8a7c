// A stored fp16 element (IEEE half precision).
//
// For files of kernels/cpu, which are compiled once per instruction set: included after highway.h, within each of them.
#if defined(WINNOW_KERNELS_CPU_HALF_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WINNOW_KERNELS_CPU_HALF_INL_H_
#undef WINNOW_KERNELS_CPU_HALF_INL_H_
#else
#define WINNOW_KERNELS_CPU_HALF_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <cstring>

#include "kernels/reference/half.h"

HWY_BEFORE_NAMESPACE();
namespace winnow::kernels {
namespace HWY_NAMESPACE {

HWY_INLINE float half_at(const std::uint8_t* at) {
  std::uint16_t bits;
  std::memcpy(&bits, at, sizeof bits);
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
  return _cvtsh_ss(bits);
#else
  return fp16_to_float(bits);
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace winnow::kernels
HWY_AFTER_NAMESPACE();

#endif  // per target
