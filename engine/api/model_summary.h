// What a model says of itself before it is loaded: documents and tensor headers are read, no weights.
//
// Used by programs that show a model somebody points at. Errors: Exception; those of engine/model_files/open_package.h, and those of a
// damaged document. Threads: plain function.
#pragma once

#include <cstdint>
#include <string>

#include "engine/sampling/sampling.h"

namespace winnow {

struct ModelSummary {
  std::string path;
  std::string name;
  std::string type;                // config.json: model_type; empty: it does not say
  std::uint64_t weight_bytes = 0;  // as stored
  SamplingChoice recommended;      // of generation_config.json; empty: it says nothing of sampling
};

// path: bytes.
ModelSummary summary_of_model(const std::string& path);

}  // namespace winnow
