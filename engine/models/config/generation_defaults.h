// generation_config.json: the end-of-answer ids and the recommended sampling.
//
// Read with a model folder. engine/generation uses the ids; the sampling is only passed on in ModelInfo as a recommendation. Nothing is set
// if the file is missing. Errors: Exception kDamagedFile, kLimitExceeded. Threads: plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/base/json_document.h"
#include "engine/model_files/model_package.h"
#include "engine/sampling/sampling.h"

namespace winnow {

struct GenerationDefaults {
  std::vector<std::int64_t> eos_token_ids;  // empty: not in the file
  std::optional<std::int64_t> pad_token_id;
  std::optional<std::int64_t> bos_token_id;
};

// A token id or a list of at most 64 under `key`; empty when absent.
std::vector<std::int64_t> read_token_ids(const JsonObject& object, const char* key, std::int64_t vocabulary);

// vocabulary: ids must be below it.
GenerationDefaults read_generation_defaults(const ModelPackage& package, std::int64_t vocabulary);

// temperature, top_k, top_p, min_p and repetition_penalty as in transformers' generate(): with do_sample the temperature defaults to 1,
// without it is 0. Empty if the file names none of them. Missing fields stay absent, even where generate() has a default (top_k 50).
SamplingChoice read_recommended_sampling(const ModelPackage& package);

}  // namespace winnow
