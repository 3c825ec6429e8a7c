#include <algorithm>
#include <array>

#include "engine/model_files/gguf_projector_kinds.h"

namespace winnow {
namespace {

constexpr std::array<NameRule, 4> kGemma3Names = {{
    {"v.patch_embd", "vision_tower.vision_model.embeddings.patch_embedding"},
    {"v.position_embd", "vision_tower.vision_model.embeddings.position_embedding"},
    {"v.post_ln", "vision_tower.vision_model.post_layernorm"},
    {"mm.soft_emb_norm", "multi_modal_projector.mm_soft_emb_norm"},
}};

// The folder's name has no ".weight".
std::optional<std::string> further_name(const ProjectorFacts& /*facts*/, std::string_view stored) {
  if (stored == "mm.input_projection.weight") return "multi_modal_projector.mm_input_projection_weight";
  return std::nullopt;
}

std::int64_t tokens_of_a_picture(const ProjectorFacts& facts) {
  if (const std::int64_t told = facts.integer("tokens_per_image", 0); told > 0) return told;  // a model's own file
  const std::int64_t cell = facts.integer("patch_size") * facts.integer("projector.scale_factor", 4);
  const std::int64_t side = cell > 0 ? std::min(facts.integer("image_size") / cell, std::int64_t{1} << 20) : 0;
  return side * side;
}

Json gemma3_config(const ProjectorKind& kind, const ProjectorFacts& facts, const Json& text, const ProjectorKind::Tokens& tokens) {
  return {{"text_config", text},
          {"image_token_index", token_id(tokens, kind.markers[0])},
          {"mm_tokens_per_image", tokens_of_a_picture(facts)},
          {"vision_config", siglip_config(facts)}};
}

Json gemma3_processor(const ProjectorFacts& facts) { return {{"image_seq_length", tokens_of_a_picture(facts)}}; }

Json gemma3_image_processor(const ProjectorFacts& facts) {
  const std::int64_t side = facts.integer("image_size");
  return {{"image_processor_type", "Gemma3ImageProcessor"}, {"size", {{"height", side}, {"width", side}}}, {"resample", 2}};
}

constexpr std::array<std::string_view, 1> kWithOne = {"mm.soft_emb_norm.weight"};
constexpr std::array<std::string_view, 1> kGemma3Architectures = {"gemma3"};
constexpr std::array<std::string_view, 2> kGemma3Markers = {"<image_soft_token>", "<start_of_image>"};

}  // namespace

std::vector<ProjectorKind> gemma3_projectors() {
  return {{.type = "gemma3",
           .architectures = kGemma3Architectures,
           .class_name = "Gemma3ForConditionalGeneration",
           .model_type = "gemma3",
           .markers = kGemma3Markers,
           .marker_may_lack = true,
           .whole = kGemma3Names,
           .layer_prefix = "vision_tower.vision_model.encoder.layers.",
           .layer = siglip_layer_names(),
           .text_prefix = "model.language_model.",
           .with_one = kWithOne,
           .further_name = &further_name,
           .config = &gemma3_config,
           .processor = &gemma3_processor,
           .image_processor = &gemma3_image_processor}};
}

}  // namespace winnow
