// Products of small tiles of 16-bit elements by a warp on the tensor cores: exact products, fp32 sums; and sums of pairs.
//
// D [16, 8] += A [16, 16] x B [16, 8]. Of lane = 4 * g + t every register holds two neighbours, the first in its low half:
//   a[0]: A[g][2t], a[1]: A[g + 8][2t], a[2]: A[g][2t + 8], a[3]: A[g + 8][2t + 8]
//   b[0]: B[2t][g] and B[2t + 1][g], b[1]: B[2t + 8][g] and B[2t + 9][g]
//   d[0], d[1]: D[g][2t], D[g][2t + 1]; d[2], d[3]: D[g + 8][2t], D[g + 8][2t + 1]
// (PTX, mma.sync.aligned.m16n8k16; compute capability 8.0.) The order of a sum's 16 products is the hardware's own: the same inputs give
// the same bits on the same device. All lanes of a warp call it together. tests/kernels/cuda_on_cpu.h does the same on a CPU.
#pragma once

#include "kernels/cuda/element.cuh"

namespace winnow::kernels::cuda {

#ifdef __CUDACC__
// Volatile: none of it is moved under a condition.
__device__ inline void multiply_add(Bf16 /*type*/, float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
__device__ inline void multiply_add(Fp16 /*type*/, float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
// Sums of two pairs.
__device__ inline unsigned sum_of_pairs(Fp16 /*type*/, unsigned a, unsigned b) {
  unsigned sum;
  asm("add.f16x2 %0, %1, %2;" : "=r"(sum) : "r"(a), "r"(b));
  return sum;
}
__device__ inline unsigned sum_of_pairs(Bf16 /*type*/, unsigned a, unsigned b) {
  unsigned sum;
  asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(0x3F803F80U), "r"(b));
  return sum;
}
#else
template <class T>
float number_of_pair(unsigned pair, std::size_t which) {
  return upcast(T{static_cast<std::uint16_t>(pair >> (16 * which))});
}
template <class T>
void multiply_add(T /*type*/, float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  BlockOnCpu& block = *BlockOnCpu::current();
  const BlockOnCpu::Shown shown = block.show({a[0], a[1], a[2], a[3], b[0], b[1]});
  const std::size_t lane = block.lane();
  for (std::size_t i = 0; i < 4; ++i) {
    const std::size_t row = lane / 4 + i / 2 * 8;
    const std::size_t column = lane % 4 * 2 + i % 2;
    for (std::size_t k = 0; k < 16; ++k) {
      const float left = number_of_pair<T>(shown.of(row % 8 * 4 + k % 8 / 2)[row / 8 + k / 8 * 2], k % 2);
      const float right = number_of_pair<T>(shown.of(column * 4 + k % 8 / 2)[4 + k / 8], k % 2);
      d[i] = std::fmaf(left, right, d[i]);
    }
  }
}
template <class T>
unsigned sum_of_pairs(T /*type*/, unsigned a, unsigned b) {
  unsigned sums = 0;
  for (std::size_t which = 0; which < 2; ++which) {
    T sum;
    narrow(number_of_pair<T>(a, which) + number_of_pair<T>(b, which), sum);
    sums |= static_cast<unsigned>(sum.bits) << (16 * which);
  }
  return sums;
}
#endif

// bits & mask | set, and bits & mask ^ turned, in one instruction: with two constants the compiler takes two.
__device__ inline unsigned masked_or(unsigned bits, unsigned mask, unsigned set) {
#ifdef __CUDA_ARCH__
  unsigned result;
  asm("lop3.b32 %0, %1, %2, %3, 0xEA;" : "=r"(result) : "r"(bits), "r"(mask), "r"(set));
  return result;
#else
  return (bits & mask) | set;
#endif
}
__device__ inline unsigned masked_xor(unsigned bits, unsigned mask, unsigned turned) {
#ifdef __CUDA_ARCH__
  unsigned result;
  asm("lop3.b32 %0, %1, %2, %3, 0x6A;" : "=r"(result) : "r"(bits), "r"(mask), "r"(turned));
  return result;
#else
  return (bits & mask) ^ turned;
#endif
}

// Two elements in one register, the first in its low half.
template <class T>
__device__ inline unsigned paired(T first, T second) {
  return static_cast<unsigned>(first.bits) | (static_cast<unsigned>(second.bits) << 16);
}

// Copies from device memory into shared memory that a thread does not wait for (cp.async, compute capability 8.0).
//
// A thread starts copies, closes a group of them, and waits until at most kLater of its youngest groups are under way. What others copied
// is there after a barrier that follows their wait. tests/kernels/cuda_on_cpu.h copies as late as a GPU may: when it is waited for.

// 4 or 16 bytes, from and to an address that is a multiple of them; zeros where nothing is there, and `from` is not read.
#ifdef __CUDACC__
template <int kBytes>
__device__ inline void copy_async(void* to, const void* from, bool is_there) {
  static_assert(kBytes == 4 || kBytes == 16);
  const auto shared = static_cast<unsigned>(__cvta_generic_to_shared(to));
  const int bytes = is_there ? kBytes : 0;
  if constexpr (kBytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(from), "r"(bytes) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared), "l"(from), "r"(bytes) : "memory");
  }
}
__device__ inline void close_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int kLater>
__device__ inline void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kLater) : "memory");
}
#else
template <int kBytes>
void copy_async(void* to, const void* from, bool is_there) {
  BlockOnCpu::current()->copy_later(to, is_there ? from : nullptr, kBytes);
}
inline void close_copies() { BlockOnCpu::current()->close_copies(); }
template <int kLater>
void wait_for_copies() {
  BlockOnCpu::current()->finish_copies(kLater);
}
#endif

}  // namespace winnow::kernels::cuda
