// Tells if a processor sums products of four bytes in one instruction (VNNI), and that instruction.
//
// For files of kernels/cpu, which are compiled once per instruction set: included after highway.h, within each of them.
#if defined(WINNOW_KERNELS_CPU_BYTE_PRODUCTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WINNOW_KERNELS_CPU_BYTE_PRODUCTS_INL_H_
#undef WINNOW_KERNELS_CPU_BYTE_PRODUCTS_INL_H_
#else
#define WINNOW_KERNELS_CPU_BYTE_PRODUCTS_INL_H_
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace winnow::kernels {
namespace HWY_NAMESPACE {

// Highway 1.0.3 knows a target with it, but compiles that for processors of another kind (AVX-VNNI instead of AVX-512 VNNI), so it is asked
// for here and written out.
HWY_INLINE bool has_byte_products() {
#if HWY_TARGET == HWY_AVX3
  return __builtin_cpu_supports("avx512vnni") != 0;
#elif HWY_TARGET == HWY_AVX2 && !defined(__clang__)  // clang 16 has no name for it
  return __builtin_cpu_supports("avxvnni") != 0;
#else
  return false;
#endif
}

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
// sums + four products each of bytes without and with a sign. Only where has_byte_products().
HWY_INLINE __m256i add_byte_products(__m256i sums, __m256i codes, __m256i input) {
#if HWY_TARGET == HWY_AVX2
  asm("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sums) : "x"(codes), "xm"(input));
#else
  asm("vpdpbusd %2, %1, %0" : "+v"(sums) : "v"(codes), "vm"(input));
#endif
  return sums;
}
#endif
#if HWY_TARGET == HWY_AVX3
HWY_INLINE __m512i add_byte_products(__m512i sums, __m512i codes, __m512i input) {
  asm("vpdpbusd %2, %1, %0" : "+v"(sums) : "v"(codes), "vm"(input));
  return sums;
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace winnow::kernels
HWY_AFTER_NAMESPACE();

#endif  // per target
