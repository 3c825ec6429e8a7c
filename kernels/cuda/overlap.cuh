// Overlapping launches (programmatic dependent launch): a kernel begins while the previous one ends, prepares its indices and constants,
// and waits for the other's results only when it reads them. Without overlap, the gaps between a decode step's kernels of microseconds take
// nearly as long as the kernels. Host side: launch.h, whose kernels keep the rules below. From compute capability 9.0 on;
// without effect before.
#pragma once

namespace winnow::kernels::cuda {

// Call at the top of a kernel, in all threads: the next launch may begin once all thread blocks of this one have called it.
__device__ inline void let_next_begin() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// Returns when all earlier launches have ended and their results can be read. Call in all threads of all thread blocks before any returns:
// the next launch relies on this one ending after those before it. Before it, read only constant data and write nothing.
__device__ inline void wait_for_earlier() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

}  // namespace winnow::kernels::cuda
