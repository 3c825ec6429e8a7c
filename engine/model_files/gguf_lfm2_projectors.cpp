#include <array>

#include "engine/model_files/gguf_projector_kinds.h"

namespace winnow {
namespace {

constexpr std::array<NameRule, 6> kLfm2Names = {{
    {"v.patch_embd", "model.vision_tower.embeddings.patch_embedding"},
    {"v.position_embd", "model.vision_tower.embeddings.position_embedding"},
    {"v.post_ln", "model.vision_tower.post_layernorm"},
    {"mm.input_norm", "model.multi_modal_projector.layer_norm"},
    {"mm.1", "model.multi_modal_projector.linear_1"},
    {"mm.2", "model.multi_modal_projector.linear_2"},
}};

constexpr std::int64_t kTilePatches = 32;  // a side

std::int64_t first_dimension(const ProjectorFacts& facts, const char* tensor) {
  const std::vector<std::int64_t> shape = facts.shape(tensor);
  return shape.empty() ? 0 : shape.front();
}

Json lfm2_config(const ProjectorKind& kind, const ProjectorFacts& facts, const Json& text, const ProjectorKind::Tokens& tokens) {
  Json vision = siglip_config(facts);
  vision["num_patches"] = first_dimension(facts, "v.position_embd.weight");
  vision["patch_embedding_is_kernel"] = true;
  return {{"text_config", text},
          {"image_token_id", token_id(tokens, kind.markers[0])},
          {"downsample_factor", facts.integer("projector.scale_factor", 2)},
          {"projector_hidden_size", first_dimension(facts, "mm.1.weight")},
          {"projector_bias", facts.has_tensor("mm.1.bias")},
          {"projector_use_layernorm", facts.has_tensor("mm.input_norm.weight")},
          {"vision_config", vision}};
}

// Bounds and the number of tiles are those of the published folders, which are their class's defaults; so are 512 px a tile of patches of
// 16 px.
Json lfm2_image_processor(const ProjectorFacts& facts) {
  return {{"image_processor_type", "Lfm2VlImageProcessor"},
          {"encoder_patch_size", facts.integer("patch_size")},
          {"downsample_factor", facts.integer("projector.scale_factor", 2)},
          {"tile_size", kTilePatches * facts.integer("patch_size")}};
}

constexpr std::array<std::string_view, 1> kOfLfm2 = {"lfm2"};
constexpr std::array<std::string_view, 3> kLfm2Markers = {"<image>", "<|image_start|>", "<|image_end|>"};

}  // namespace

std::vector<ProjectorKind> lfm2_projectors() {
  return {{.type = "lfm2",
           .architectures = kOfLfm2,
           .class_name = "Lfm2VlForConditionalGeneration",
           .model_type = "lfm2_vl",
           .markers = kLfm2Markers,
           .whole = kLfm2Names,
           .layer_prefix = "model.vision_tower.encoder.layers.",
           .layer = siglip_layer_names(),
           .text_prefix = "model.language_model.",
           .config = &lfm2_config,
           .image_processor = &lfm2_image_processor}};
}

}  // namespace winnow
