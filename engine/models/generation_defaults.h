// What generation_config.json says about stopping: the ids that end an answer.
//
// Read with a model folder, used by engine/generation. The file may be missing (nothing is set then). Sampling settings in it are left
// alone: the conversation decides them. Errors: Exception kDamagedFile, kLimitExceeded. Threads: plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/json_document.h"
#include "engine/model_files/model_package.h"

namespace winnow {

struct GenerationDefaults {
  std::vector<std::int64_t> eos_token_ids;  // empty: the file does not say
  std::optional<std::int64_t> pad_token_id;
  std::optional<std::int64_t> bos_token_id;
};

// A token id or a list of at most 64 under `key`; empty when absent.
std::vector<std::int64_t> read_token_ids(const JsonObject& object, const char* key, std::int64_t vocabulary);

// vocabulary: ids must be below it.
GenerationDefaults read_generation_defaults(const ModelPackage& package, std::int64_t vocabulary);

}  // namespace winnow
