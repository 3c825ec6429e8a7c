// Launches that overlap (programmatic dependent launch): a kernel begins while the one before it ends, gets its numbers and constants ready
// and waits for the other's results only when it reads them. Between the kernels of a decode step, each of microseconds, stands otherwise
// nearly as much again. Host side: overlapped_launch.h, whose kernels keep the rules below. From compute capability 9.0 on; nothing happens
// before, where launches follow each other as ever.
#pragma once

namespace winnow::kernels::cuda {

// The next launch may begin as soon as all thread blocks of this one have come here: at the top of a kernel, in all threads.
__device__ inline void let_next_begin() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// Returns when everything launched before has ended and what it wrote can be read. In all threads of all thread blocks, before one leaves:
// that this launch ends after those before it is what the next one counts on. What is read earlier has been constant for long; nothing is
// written earlier.
__device__ inline void wait_for_earlier() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

}  // namespace winnow::kernels::cuda
