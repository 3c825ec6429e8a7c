// Whether a model's weights fit into what memory is left, beside the model that is loaded or in its place.
//
// Used by engine/api before a model is loaded. Plain numbers. Errors: Exception, kOutOfMemory with the sizes.
#pragma once

#include <cstdint>
#include <string>

namespace winnow {

enum class ModelRoom : int {
  kBoth = 1,         // the old model can stay until the new one is there
  kAfterFreeing = 2  // only where the old one was
};

// needed: of the new model's weights at most; free: 0 where nobody can say (then all fits); held: what freeing the old model returns.
// subject: the new model's folder.
ModelRoom room_for_model(std::uint64_t needed, std::uint64_t free, std::uint64_t held, const std::string& subject);

}  // namespace winnow
