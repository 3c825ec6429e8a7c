// Which family would run a model, by its config.json alone: nothing else of it is looked at, nothing is loaded.
//
// Defined beside the families (registry.cpp). Used by app/models to tell the models that can be run from others that lie beside them.
// Errors: Exception; kDamagedFile, kLimitExceeded of the fields that name the family. No torch. Threads: plain function.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/base/json_document.h"

namespace winnow {

struct KnownFamily {
  std::string model_type;
  bool sees = false;  // not text alone
  bool reads_videos = false;
};

// nullopt: the engine runs no such model.
std::optional<KnownFamily> known_family(const JsonObject& config);

// The classes (config.json: architectures) that the engine runs.
std::vector<std::string> known_classes();

}  // namespace winnow
