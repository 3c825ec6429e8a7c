// Free memory of the machine or the GPU, for keys, values and work. Used by the planner. No torch in this header.
#pragma once

#include <cstdint>

namespace winnow {

enum class MemoryOf : int { kMachine = 1, kGpu = 2 };

// Bytes; 0 if unknown. kMachine: what the operating system can give without swapping. kGpu: after open_cuda(), including libtorch's cached
// memory. Engine thread.
std::int64_t free_memory_bytes(MemoryOf where);

}  // namespace winnow
