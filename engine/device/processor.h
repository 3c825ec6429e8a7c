// The processor: features that decide between implementations, and how many threads libtorch uses: as many as speed it up, leaving room for
// the window and other programs.
//
// Used by engine/layers, by engine/api when an engine is made, and by benchmarks. No torch in this header. Threads: any.
#pragma once

namespace winnow {

// bf16 tiles (AMX), which libtorch's GEMM uses; no kernel here comes near its speed.
inline bool has_amx() {
#if defined(__x86_64__) && !defined(__clang__)  // clang 16 has no name for it
  return __builtin_cpu_supports("amx-bf16") != 0;
#else
  return false;
#endif
}

// All cores of a machine with up to three; from four on all but one.
int threads_for(int cores);

// Uses threads_for() the physical cores that the process may run on, unless the user has set OMP_NUM_THREADS or MKL_NUM_THREADS. Acts once
// a process, so later settings stand. Call before libtorch computes on another thread.
void set_default_threads();

}  // namespace winnow
