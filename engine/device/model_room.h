// Checks that a model's weights fit into the free memory, beside the loaded model or instead of it.
//
// Used by engine/api before a model is loaded. Plain values. Errors: Exception, kOutOfMemory with the sizes.
#pragma once

#include <cstdint>
#include <string>

namespace winnow {

enum class ModelRoom : int {
  kBoth = 1,         // the old model can stay until the new one is loaded
  kAfterFreeing = 2  // only after the old one is freed
};

// needed: upper bound of the new model's weights; free: 0 if unknown (then everything fits); held: what freeing the old model returns.
// subject: the new model's folder.
ModelRoom room_for_model(std::uint64_t needed, std::uint64_t free, std::uint64_t held, const std::string& subject);

}  // namespace winnow
