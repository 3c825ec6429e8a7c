// The row of the family that runs a model.
//
// Used by registry.h, which calls its loader; programs ask known_family.h. Errors: Exception; kDamagedFile, kLimitExceeded of the fields
// that name the family. No torch. Threads: plain function.
#pragma once

#include <cstddef>
#include <string>

#include "engine/base/json_document.h"

namespace winnow {

// An index of kFamilies. Throws kUnsupportedModel about `subject` if the engine does not run such models.
std::size_t required_family(const JsonObject& config, const std::string& subject);

}  // namespace winnow
