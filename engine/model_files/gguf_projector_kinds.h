// The kinds of GGUF projectors that are read: how each one's metadata and names become those of its family's Hugging Face folder.
//
// Used by gguf_projector.h. A family's kinds are in a file of their own (gguf_*_projectors.cpp). Sources: llama.cpp, tools/mtmd (clip.cpp,
// legacy-models) and conversion/; the Python package gguf (tensor_mapping.py). What the files do not say is as the published folders that
// each of them names have it. Errors: Exception of gguf_metadata.h. No torch. Threads: plain functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/json_document.h"
#include "engine/model_files/gguf_projector_facts.h"
#include "engine/model_files/renamed_tensors.h"

namespace winnow {

struct ProjectorKind {
  using Tokens = std::vector<std::string>;

  const char* type = nullptr;                       // clip.projector_type
  std::span<const std::string_view> architectures;  // of text models
  bool (*is_of)(const ProjectorFacts&) = nullptr;   // which of several kinds with one type; null: there is one
  const char* class_name = nullptr;                 // config.json: architectures[0]
  const char* model_type = nullptr;
  std::span<const std::string_view> markers;  // tokens that its prompts have
  // Published vocabularies lack the marker: the token for unknown text, which a tokenizer over bytes never writes, stands for a picture.
  bool marker_may_lack = false;
  std::span<const NameRule> whole;
  std::string_view layer_prefix;  // of the tower's layers
  std::span<const NameRule> layer;
  std::string_view text_prefix;  // of the text model's tensors, in place of "model."
  // Rows of the tower's q and k are stored interleaved, head by head (StoredTensor::interleaved); not so inside a model's own file.
  bool interleaved = false;
  // By their stored names: tensors that the folder has with dimensions of one in front, three in all. Tools that copy files leave them out.
  std::span<const std::string_view> of_three_dimensions{};
  // By their stored names: tensors that are stored as the sum with one of what the folder has (StoredTensor::with_one).
  std::span<const std::string_view> with_one{};
  // Whole names that no rule gives; null: there are none.
  std::optional<std::string> (*further_name)(const ProjectorFacts&, std::string_view stored) = nullptr;
  // Why this file is none that is read; null, or nothing: it is. Features of a token; null: projection_dim.
  std::optional<std::string> (*obstacle)(const ProjectorFacts&) = nullptr;
  std::int64_t (*width)(const ProjectorFacts&) = nullptr;
  Json (*config)(const ProjectorKind&, const ProjectorFacts&, const Json& text, const Tokens&) = nullptr;
  Json (*processor)(const ProjectorFacts&) = nullptr;        // processor_config.json; null: the family has none
  Json (*image_processor)(const ProjectorFacts&) = nullptr;  // preprocessor_config.json, without mean and deviation
  Json (*video_processor)(const ProjectorFacts&) = nullptr;  // video_preprocessor_config.json, as well; null: videos go by the images'
  // The chat template for text models whose own ignores pictures; null: there are none. text: the text model's config.json.
  std::string_view (*chat_template)(const ProjectorFacts&, const Json& text, const Tokens&) = nullptr;
};

std::span<const ProjectorKind> projector_kinds();
// Each has the projectors of one family.
std::vector<ProjectorKind> smolvlm_projectors();
std::vector<ProjectorKind> qwen_vl_projectors();
std::vector<ProjectorKind> llava_projectors();
std::vector<ProjectorKind> internvl_projectors();
std::vector<ProjectorKind> gemma3_projectors();
std::vector<ProjectorKind> gemma4_projectors();
std::vector<ProjectorKind> glm4v_projectors();
std::vector<ProjectorKind> lfm2_projectors();
std::vector<ProjectorKind> minicpmv_projectors();
std::vector<ProjectorKind> pixtral_projectors();

// The layers of a SigLIP and of a CLIP.
std::span<const NameRule> siglip_layer_names();
// Names in Qwen2.5-VL's and GLM-4V's encoder, whose MLPs have a gate.
std::span<const NameRule> gated_layer_names();
// vision_config of a SigLIP.
Json siglip_config(const ProjectorFacts& facts);
// Pixels of a square of so many patches a side, of which a token is made. Of sizes that no family takes it is a smaller number.
std::int64_t square_px(const ProjectorFacts& facts, std::int64_t patches);
// Id of a token; the number of tokens where there is none.
std::int64_t token_id(const ProjectorKind::Tokens& tokens, std::string_view token);
std::optional<std::string> renamed(std::string_view stored, std::span<const NameRule> rules);

// The name of a tensor in the family's folder; nothing: it has none there.
std::optional<std::string> name_in_folder(const ProjectorKind& kind, const ProjectorFacts& facts, const std::string& stored);

}  // namespace winnow
