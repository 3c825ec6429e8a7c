// A vision encoder inside a model's own GGUF file, as Ollama's converter writes it, told as llama.cpp's mmproj file of that model.
//
// Used by gguf_model.h and gguf_projector_facts.h: an architecture is a row, and the kind of projector that it names
// (gguf_projector_kinds.h) does the rest. Keys are "<architecture>.vision.*", tensors "v.*" and "mm.*". Source: github.com/ollama/ollama,
// convert/ and model/models/, of 2025 and 2026; versions since then write an mmproj file beside the model. What those files leave out is as
// the published folders have it. Errors: Exception of gguf_metadata.h, kUnsupportedModel. No torch. Threads: plain functions.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model_files/renamed_tensors.h"
#include "engine/weights/gguf_file.h"

namespace winnow {

struct InnerVision {
  std::string_view architecture;  // general.architecture
  std::string_view type;          // clip.projector_type of the same model's mmproj file
  std::span<const NameRule> whole;
  std::span<const NameRule> layer;  // behind "v.blk.<number>."
  std::span<const NameRule> keys;   // canonical: the file's key for an mmproj's; others have "vision." in front
  std::array<float, 3> mean{};      // image_mean and image_std, where the file has none
  std::array<float, 3> deviation{};
  std::string_view pre_tokenizer{};                       // the family's, where the file says "default"
  std::span<const std::string_view> control{};            // tokens of no text, whatever tokenizer.ggml.token_type says
  bool (*in_known_order)(const GgufMetadata&) = nullptr;  // null: there is one order
};

// The row of a file that has a vision encoder inside; null: it has none. kUnsupportedModel: it has one that is not read.
const InnerVision* inner_vision_of(const GgufFile& file);

// Names of an mmproj file; those that it has not are left as they are.
TensorFile::Tensors tensors_as_in_an_mmproj(const InnerVision& inside, const GgufFile& file);
// The file's own key. mmproj: without "clip.vision.".
std::string key_inside(const InnerVision& inside, std::string_view mmproj);
// image_mean or image_std of the published folder.
std::vector<float> published_scaling(const InnerVision& inside, std::string_view mmproj);

// True if the beginning of a GGUF file names a vision encoder inside; false for unreadable files. For lists: metadata, which are long, need
// not be read to know that a model reads text alone.
bool may_see_inside(const std::string& path);

}  // namespace winnow
