// The family that would run a model, from its config.json alone; nothing is loaded.
//
// Defined beside the families (family.cpp). Used by app/library/models to find the folders that the engine can run.
// Errors: Exception; kDamagedFile, kLimitExceeded of the fields that name the family. No torch. Threads: plain function.
#pragma once

#include <optional>
#include <string>
#include <string_view>
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

// The scale in which a family's models write boxes and points in their answers, as their authors document it.
enum class BoxScale : int {
  kNone = 0,         // they write none, or nobody says how
  kThousandths = 1,  // of the picture's width and height
  kReadPixels = 2,   // pixels of the picture as it was resized to be read
};

// family: ModelInfo::family. Returns kNone for a name that no family has.
BoxScale box_scale(std::string_view family);

// The classes (config.json: architectures) that the engine runs.
std::vector<std::string> known_classes();

}  // namespace winnow
