// Translates GGUF metadata to the documents of a Hugging Face folder, so that the families' checks apply to it, too.
//
// Used by gguf_model.h. Architectures and their keys: one table, in the .cpp. Errors: Exception; kUnsupportedModel naming what is not read
// (another architecture, shared experts but Qwen's, scaled attention), kDamagedFile, kLimitExceeded. No torch. Threads: plain functions.
#pragma once

#include <cstdint>
#include <optional>
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
  std::vector<float> frequency_factors;  // of rope_freqs.weight; empty: none
};

// Values of general.architecture that can be read.
std::vector<std::string> known_gguf_architectures();

// config.json. vocabulary: entries of the token list.
Json gguf_config(const GgufMetadata& metadata, const GgufTensorFacts& tensors, std::int64_t vocabulary);

// generation_config.json: the ids that end an answer.
Json gguf_generation(const GgufMetadata& metadata, const std::vector<std::string>& tokens);

// Whether text is encoded with a space in front where the file does not say so.
bool adds_space_prefix(const GgufMetadata& metadata);

// The tensor's name in a Hugging Face folder of the architecture; nullopt if it has none.
std::optional<std::string> hugging_face_name(const GgufMetadata& metadata, const std::string& stored);

// Whether the tensor is stored as the sum with one of what the folder has (StoredTensor::with_one). canonical: the Hugging Face name.
bool stored_with_one(const GgufMetadata& metadata, const std::string& canonical);

// The shape that the tensor has in a Hugging Face folder: files leave out dimensions of one.
std::vector<std::int64_t> folder_shape(const std::string& canonical, std::vector<std::int64_t> stored);

// Rows of a head's q and k that are stored interleaved: the head size; 0: in order. canonical: the Hugging Face name.
std::int64_t interleaved_rows(const GgufMetadata& metadata, const std::string& canonical);

}  // namespace winnow
