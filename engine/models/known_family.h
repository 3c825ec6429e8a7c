// The family that would run a model, from its config.json alone; nothing is loaded.
//
// Defined beside the families (family.cpp). Used by app/library/models to find the folders that the engine can run.
// Errors: Exception; kDamagedFile, kLimitExceeded of the fields that name the family. No torch. Threads: plain function.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/base/json_document.h"

namespace winnow {

struct KnownFamily {
  std::string model_type;
  bool sees = false;  // a vision-language model
  bool reads_videos = false;
};

// Returns nullopt if the engine does not run such models.
std::optional<KnownFamily> known_family(const JsonObject& config);

// The classes (config.json: architectures) that the engine runs.
std::vector<std::string> known_classes();

}  // namespace winnow
