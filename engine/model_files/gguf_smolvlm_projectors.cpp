#include <algorithm>
#include <array>

#include "engine/model_files/gguf_projector_kinds.h"

namespace winnow {
namespace {

constexpr std::array<NameRule, 4> kSmolVlm = {{
    {"v.patch_embd", "model.vision_model.embeddings.patch_embedding"},
    {"v.position_embd", "model.vision_model.embeddings.position_embedding"},
    {"v.post_ln", "model.vision_model.post_layernorm"},
    {"mm.model.fc", "model.connector.modality_projection.proj"},
}};

Json smolvlm_config(const ProjectorKind& kind, const ProjectorFacts& facts, const Json& text, const ProjectorKind::Tokens& tokens) {
  return {{"text_config", text},
          {"image_token_id", token_id(tokens, kind.markers[0])},
          {"scale_factor", facts.integer("projector.scale_factor", 2)},
          {"vision_config", siglip_config(facts)}};
}

Json smolvlm_processor(const ProjectorFacts& facts) {
  const std::int64_t cell = facts.integer("patch_size") * facts.integer("projector.scale_factor", 2);
  const std::int64_t side = cell > 0 ? std::min(facts.integer("image_size") / cell, std::int64_t{1} << 20) : 0;
  return {{"image_seq_len", side * side}};
}

Json smolvlm_image_processor(const ProjectorFacts& facts) {
  // Without a size to be split from, a picture is one tile.
  const std::int64_t tile = facts.integer("image_size");
  return {{"image_processor_type", "SmolVLMImageProcessor"},
          {"size", {{"longest_edge", facts.integer("preproc_image_size", tile)}}},
          {"max_image_size", {{"longest_edge", tile}}},
          {"do_image_splitting", facts.has("preproc_image_size")}};
}

constexpr std::array<std::string_view, 1> kSmolvlmArchitectures = {"llama"};
constexpr std::array<std::string_view, 2> kSmolvlmMarkers = {"<image>", "<fake_token_around_image>"};

}  // namespace

std::vector<ProjectorKind> smolvlm_projectors() {
  return {{.type = "idefics3",
           .architectures = kSmolvlmArchitectures,
           .class_name = "SmolVLMForConditionalGeneration",
           .model_type = "smolvlm",
           .markers = kSmolvlmMarkers,
           .whole = kSmolVlm,
           .layer_prefix = "model.vision_model.encoder.layers.",
           .layer = siglip_layer_names(),
           .text_prefix = "model.text_model.",
           .config = &smolvlm_config,
           .processor = &smolvlm_processor,
           .image_processor = &smolvlm_image_processor}};
}

}  // namespace winnow
