// Copies from device memory into shared memory that a thread does not wait for (cp.async, compute capability 8.0).
//
// A thread starts copies, closes a group of them, and waits until at most kLater of its youngest groups are under way. What others copied
// is there after a barrier that follows their wait. tests/kernels/cuda_on_cpu.h copies as late as a GPU may: when it is waited for.
#pragma once

namespace winnow::kernels::cuda {

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
