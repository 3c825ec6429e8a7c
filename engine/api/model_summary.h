// A model's own description before it is loaded: documents and tensor headers are read, no weights.
//
// Used by programs that show a model somebody points at. Errors: Exception; those of engine/model_files/open_package.h, and those of a
// damaged document. What is only missing or of a kind that does not run is told in the summary. Threads: plain functions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/models/config/told_cache.h"
#include "engine/sampling/sampling.h"

namespace winnow {

struct ModelSummary {
  std::string path{};
  std::string name{};
  std::string format{};        // "GGUF" or "safetensors"
  std::string type{};          // config.json: model_type; empty: it does not say
  std::string architecture{};  // config.json: architectures[0]; empty: it does not say
  bool runs = false;           // the engine has this family
  bool sees = false;
  bool reads_videos = false;
  ToldCache cache{};
  std::uint64_t weight_bytes = 0;  // as stored
  // The same by how the elements are stored: "Q4_1", "BF16".
  std::map<std::string, std::uint64_t> stored{};
  std::string projector{};                       // of a GGUF file that sees: the file of its vision encoder; empty: inside
  bool has_template = false;                     // of its own
  bool speaks_chatml = false;                    // without one: its vocabulary has ChatML's markers
  std::vector<std::string> template_switches{};  // that its chat template asks for: enable_thinking, tools
  SamplingChoice recommended{};                  // of generation_config.json; empty: it says nothing of sampling
  std::vector<Error> missing{};                  // what loading would be refused for: weights, the tokenizer, its template
};

// path: bytes.
ModelSummary summary_of_model(const std::string& path);

}  // namespace winnow
