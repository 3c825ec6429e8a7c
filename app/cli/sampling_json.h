// What was chosen of sampling, as JSON for programs and as words for people.
//
// Used by `probe` and `ask --json`. Only what was chosen is named.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "engine/sampling/sampling.h"

namespace winnow::cli {

nlohmann::ordered_json sampling_json(const SamplingChoice& choice);
// "temperature 0.7, top-k 20"; empty: nothing was chosen.
std::string sampling_words(const SamplingChoice& choice);

}  // namespace winnow::cli
