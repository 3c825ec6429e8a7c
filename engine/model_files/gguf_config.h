// Translates GGUF metadata to the documents of a Hugging Face folder, so that the families' checks apply to it, too.
//
// Used by gguf_model.h. Architectures: gguf_architectures.h; tensors: gguf_tensor_names.h. Errors: Exception; kUnsupportedModel naming what
// is not read (another architecture, shared experts but Qwen's and GLM's, scaled attention), kDamagedFile, kLimitExceeded. No torch.
// Threads: plain functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/json_document.h"
#include "engine/weights/gguf_metadata.h"

namespace winnow {

// Facts from the tensors rather than the metadata.
struct GgufTensorFacts {
  std::int64_t embedding_rows = 0;       // of token_embd.weight; 0: there is none
  std::int64_t expert_rows = 0;          // of one expert's first matrix; 0: there are no experts in a matrix together
  bool has_output = false;               // an output matrix of its own
  bool values_are_keys = false;          // some layer has a key matrix and none for values
  bool query_norms = false;              // some layer has a norm of its heads' queries
  std::vector<float> frequency_factors;  // of rope_freqs.weight; empty: none
};

// config.json. vocabulary: entries of the token list.
Json gguf_config(const GgufMetadata& metadata, const GgufTensorFacts& tensors, std::int64_t vocabulary);

// generation_config.json: the ids that end an answer.
Json gguf_generation(const GgufMetadata& metadata, const std::vector<std::string>& tokens);

// True if text is encoded with a space in front where the file does not say so.
bool adds_space_prefix(const GgufMetadata& metadata);

}  // namespace winnow
