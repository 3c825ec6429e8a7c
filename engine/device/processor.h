// Processor features that decide between implementations. Threads: any.
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

}  // namespace winnow
