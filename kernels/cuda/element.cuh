// Element types of device memory and their conversion to fp32 and back. Used by the kernels of this folder.
#pragma once

#ifdef __CUDACC__
#include <cuda_fp16.h>
#endif

#include <cstdint>

namespace winnow::kernels::cuda {

struct Bf16 {
  std::uint16_t bits;
};
struct Fp16 {
  std::uint16_t bits;
};

__device__ inline float widen(float x) { return x; }
__device__ inline float widen(Bf16 x) { return __uint_as_float(static_cast<unsigned>(x.bits) << 16); }
__device__ inline float widen(Fp16 x) { return __half2float(__ushort_as_half(x.bits)); }

// Round to nearest even; NaN stays NaN.
__device__ inline void narrow(float x, float& to) { to = x; }
__device__ inline void narrow(float x, Bf16& to) {
  const unsigned bits = __float_as_uint(x);
  to.bits = x != x ? static_cast<std::uint16_t>(0x7FC0) : static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16);
}
__device__ inline void narrow(float x, Fp16& to) { to.bits = __half_as_ushort(__float2half_rn(x)); }

// kCount neighbours, moved by one load of up to 16 bytes.
template <class T, int kCount>
struct alignas(sizeof(T) * kCount < 16 ? sizeof(T) * kCount : 16) Pack {
  T values[kCount];
};

template <int kCount, class T>
__device__ inline Pack<T, kCount> load(const T* from) {
  return *reinterpret_cast<const Pack<T, kCount>*>(from);
}

}  // namespace winnow::kernels::cuda
