// What generation_config.json says: the ids that end an answer, and how the model's makers would draw its tokens.
//
// Read with a model folder; the ids are used by engine/generation, the sampling is passed on in ModelInfo: the conversation decides. The
// file may be missing (nothing is set then). Errors: Exception kDamagedFile, kLimitExceeded. Threads: plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/json_document.h"
#include "engine/model_files/model_package.h"
#include "engine/sampling/sampling.h"

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

// temperature, top_k, top_p, min_p and repetition_penalty, as transformers' generate() takes them: only with do_sample is anything drawn
// (temperature 1 unless the file names one); else the temperature is 0. Empty where the file says nothing of them. What it leaves out stays
// absent, also where generate() has a default of its own (top_k 50).
SamplingChoice read_recommended_sampling(const ModelPackage& package);

}  // namespace winnow
