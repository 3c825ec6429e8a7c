// The model families that the engine runs: one row each, in family.cpp.
//
// Used by registry.h, which has the loaders; programs ask known_family.h. Errors: Exception; kDamagedFile, kLimitExceeded of the fields
// that name the family. No torch. Threads: plain functions.
#pragma once

#include <string>

#include "engine/base/json_document.h"

namespace winnow {

// The loaders, which registry.cpp calls. Named and not pointed to, because who only asks for a family's name links no libtorch.
enum class FamilyLoader {
  kLlavaOnevision,
  kLlava,
  kQwen2Vl,
  kQwen3Vl,
  kQwen35,
  kGlm4v,
  kMiniCpmV,
  kSmolVlm,
  kInternVl,
  kInternVlChat,
  kGemma3Vision,
  kMistral3,
  kGemma4Vision,
  kLfm2Vision,
  kCausalLm,
  kGlm4,
  kFalcon,
  kGemma3,
  kGemma4,
  kLfm2,
};

struct Family {
  const char* model_type;    // config.json: model_type
  const char* architecture;  // config.json: architectures[0]
  FamilyLoader loader;
  bool reads_videos = true;  // where it sees
};

// Throws kUnsupportedModel about `subject` if the engine does not run such models.
const Family& required_family(const JsonObject& config, const std::string& subject);

}  // namespace winnow
