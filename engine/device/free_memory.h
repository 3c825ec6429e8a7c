// Memory that is left for keys, values and work: of the machine, or of the GPU. Used by the planner. No torch in this header.
#pragma once

#include <cstdint>

namespace winnow {

enum class MemoryOf : int { kMachine = 1, kGpu = 2 };

// Bytes; 0 where nobody can say. kMachine: what the operating system can give without swapping. kGpu: after open_cuda(), with what libtorch
// holds in reserve. Engine thread.
std::int64_t free_memory_bytes(MemoryOf where);

}  // namespace winnow
