// What the processor can do that decides between ways to compute. Threads: any.
#pragma once

namespace winnow {

// Tiles of bf16 (AMX), which libtorch's products use: nothing else here comes near them.
inline bool has_amx() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("amx-bf16") != 0;
#else
  return false;
#endif
}

}  // namespace winnow
