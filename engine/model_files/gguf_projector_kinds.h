// The kinds of GGUF projectors that are read: how each one's metadata and names become those of its family's Hugging Face folder.
//
// Used by gguf_projector.h. One row each of a table in the .cpp. Sources: llama.cpp, tools/mtmd/clip.cpp and conversion/; the Python
// package gguf (tensor_mapping.py). Errors: Exception of gguf_metadata.h. No torch. Threads: plain functions.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/json_document.h"
#include "engine/weights/gguf_file.h"

namespace winnow {

// What a projector file says of its tower; keys without "clip.vision." in front. Borrows the file.
class ProjectorFacts {
 public:
  explicit ProjectorFacts(const GgufFile& file) : file_(&file) {}

  bool has(const char* key) const;
  std::int64_t integer(const char* key) const;
  std::int64_t integer(const char* key, std::int64_t fallback) const;
  double real(const char* key, double fallback) const;
  std::vector<std::int64_t> integers(const char* key) const;
  std::vector<float> three_reals(const char* key) const;

  // Early converters named the two products of a block the wrong way round; their shapes tell.
  bool products_are_swapped() const;
  // Of a block's first product: metadata of early converters say nothing of it, or the text model's width.
  std::int64_t inner_size() const;

 private:
  const GgufFile* file_;
};

struct NameRule {
  std::string_view stored;  // without ".weight" and ".bias"
  std::string_view canonical;
};

struct ProjectorKind {
  using Tokens = std::vector<std::string>;

  const char* type;          // clip.projector_type
  const char* architecture;  // of the text model
  const char* class_name;    // config.json: architectures[0]
  const char* model_type;
  std::array<std::string_view, 2> markers;  // tokens that its prompts have
  std::span<const NameRule> whole;
  std::string_view layer_prefix;  // of the tower's layers
  std::span<const NameRule> layer;
  std::string_view text_prefix;  // of the text model's tensors, in place of "model."
  Json (*config)(const ProjectorKind&, const ProjectorFacts&, const Json& text, const Tokens&);
  Json (*processor)(const ProjectorFacts&);        // processor_config.json; null: the family has none
  Json (*image_processor)(const ProjectorFacts&);  // preprocessor_config.json, without mean and deviation
  Json (*video_processor)(const ProjectorFacts&);  // video_preprocessor_config.json, as well; null: videos go by the images'
};

std::span<const ProjectorKind> projector_kinds();

// The name of a tensor in the family's folder; nothing: it has none there.
std::optional<std::string> name_in_folder(const ProjectorKind& kind, const ProjectorFacts& facts, const std::string& stored);

// Whether it is stored as the sum with one of what the folder has (StoredTensor::with_one).
bool projector_stored_with_one(const std::string& stored);

}  // namespace winnow
