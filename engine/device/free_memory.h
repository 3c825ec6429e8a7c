// Free memory of the machine or the GPU, for weights, keys, values and work, and whether a model's weights fit into it.
//
// Used by the planner, and by engine/api before a model is loaded. No torch in this header.
#pragma once

#include <cstdint>
#include <string>

namespace winnow {

enum class MemoryOf : int { kMachine = 1, kGpu = 2 };

// Bytes; 0 if unknown. kMachine: what the operating system can give without swapping. kGpu: after open_cuda(), including libtorch's cached
// memory. Engine thread.
std::int64_t free_memory_bytes(MemoryOf where);

// Checks that a model's weights fit into the free memory, beside the loaded model or instead of it.
//
// Plain values. Errors: Exception, kOutOfMemory with the sizes.
enum class ModelRoom : int {
  kBoth = 1,         // the old model can stay until the new one is loaded
  kAfterFreeing = 2  // only after the old one is freed
};

// needed: upper bound of the new model's weights; free: 0 if unknown (then everything fits); held: what freeing the old model returns.
// subject: the new model's folder.
ModelRoom room_for_model(std::uint64_t needed, std::uint64_t free, std::uint64_t held, const std::string& subject);

}  // namespace winnow
