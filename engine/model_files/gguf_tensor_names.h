// The names of a GGUF file's tensors and their layout in the Hugging Face folder of its architecture.
//
// Used by gguf_model.h. Names: one table for all architectures and one for each that differs, in the .cpp. canonical: the Hugging Face
// name. Errors: Exception of gguf_architectures.h. No torch. Threads: plain functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/weights/gguf_metadata.h"

namespace winnow {

// The tensor's name in a Hugging Face folder of the architecture; nullopt if it has none.
std::optional<std::string> hugging_face_name(const GgufMetadata& metadata, const std::string& stored);

// True if the tensor is stored as the sum with one of what the folder has (StoredTensor::with_one).
bool stored_with_one(const GgufMetadata& metadata, const std::string& canonical);

// The shape that the tensor has in a Hugging Face folder: files leave out dimensions of one.
std::vector<std::int64_t> folder_shape(const std::string& canonical, std::vector<std::int64_t> stored);

// Rows of a head's q and k that are stored interleaved: the head size; 0: in order.
std::int64_t interleaved_rows(const GgufMetadata& metadata, const std::string& canonical);

}  // namespace winnow
