// Element types of device memory and their conversion to fp32 and back. Used by the kernels of this folder.
#pragma once

#ifdef __CUDACC__
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif

#include <cstdint>
#include <type_traits>

#include "kernels/api/element_type.h"

namespace winnow::kernels::cuda {

struct Bf16 {
  std::uint16_t bits;
};
struct Fp16 {
  std::uint16_t bits;
};

__device__ inline float minus_infinity() { return __uint_as_float(0xFF800000U); }

__device__ inline float upcast(float x) { return x; }
__device__ inline float upcast(Bf16 x) { return __uint_as_float(static_cast<unsigned>(x.bits) << 16); }
__device__ inline float upcast(Fp16 x) { return __half2float(__ushort_as_half(x.bits)); }

// Round to nearest even; NaN stays NaN.
__device__ inline void narrow(float x, float& to) { to = x; }
__device__ inline void narrow(float x, Bf16& to) { to.bits = __bfloat16_as_ushort(__float2bfloat16_rn(x)); }
__device__ inline void narrow(float x, Fp16& to) { to.bits = __half_as_ushort(__float2half_rn(x)); }

// kCount adjacent elements, moved by one load or store of up to 16 bytes.
template <class T, int kCount>
struct alignas(sizeof(T) * kCount < 16 ? sizeof(T) * kCount : 16) Pack {
  T values[kCount];
};

// The neighbours that one load moves, and whether it may: its address must be a multiple of 16 bytes, or null.
template <class T>
inline constexpr int kWidest = 16 / static_cast<int>(sizeof(T));
inline bool is_aligned(const void* address) { return reinterpret_cast<std::uintptr_t>(address) % 16 == 0; }

template <int kCount, class T>
__device__ inline Pack<T, kCount> load(const T* from) {
  return *reinterpret_cast<const Pack<T, kCount>*>(from);
}

template <int kCount, class T>
__device__ inline void store(const Pack<T, kCount>& values, T* to) {
  *reinterpret_cast<Pack<T, kCount>*>(to) = values;
}

// kCount elements of an array with a run-time type, the same in all threads; from a multiple of 16 bytes on.
template <int kCount>
__device__ inline Pack<float, kCount> load_numbers(const void* array, ElementType type, std::int64_t first) {
  Pack<float, kCount> numbers;
  const auto take = [&](const auto& pack) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) numbers.values[i] = upcast(pack.values[i]);
  };
  if (type == ElementType::kFp32) {
    take(load<kCount>(static_cast<const float*>(array) + first));
  } else if (type == ElementType::kBf16) {
    take(load<kCount>(static_cast<const Bf16*>(array) + first));
  } else {
    take(load<kCount>(static_cast<const Fp16*>(array) + first));
  }
  return numbers;
}

__device__ inline void store_number(float value, ElementType type, void* array, std::int64_t index) {
  if (type == ElementType::kFp32) {
    narrow(value, static_cast<float*>(array)[index]);
  } else if (type == ElementType::kBf16) {
    narrow(value, static_cast<Bf16*>(array)[index]);
  } else {
    narrow(value, static_cast<Fp16*>(array)[index]);
  }
}

// Like load_numbers().
template <int kCount>
__device__ inline void store_numbers(const float (&numbers)[kCount], ElementType type, void* array, std::int64_t first) {
  const auto put = [&](auto* to) {
    Pack<std::remove_pointer_t<decltype(to)>, kCount> pack;
#pragma unroll
    for (int i = 0; i < kCount; ++i) narrow(numbers[i], pack.values[i]);
    store(pack, to + first);
  };
  if (type == ElementType::kFp32) {
    put(static_cast<float*>(array));
  } else if (type == ElementType::kBf16) {
    put(static_cast<Bf16*>(array));
  } else {
    put(static_cast<Fp16*>(array));
  }
}

// Which of a kernel's versions is launched: that of the arguments' element type. Host code; used by the launches of this folder.

// Calls launch(element), whose argument's type is the one that device memory has of `type`.
template <class Launch>
void for_type(ElementType type, const Launch& launch) {
  switch (type) {
    case ElementType::kFp32: return launch(float{});
    case ElementType::kBf16: return launch(Bf16{});
    case ElementType::kFp16: return launch(Fp16{});
  }
}

}  // namespace winnow::kernels::cuda
