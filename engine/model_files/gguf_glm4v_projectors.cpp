#include <array>

#include "engine/model_files/gguf_projector_kinds.h"

namespace winnow {
namespace {

// The kernel that joins two frames is stored as one for each of them.
constexpr std::array<NameRule, 12> kGlmNames = {{
    {"v.patch_embd.bias", "visual.patch_embed.proj.bias"},  // one for both
    {"v.patch_embd", "visual.patch_embed.proj.0"},
    {"v.patch_embd.weight", "visual.patch_embed.proj.1"},
    {"v.norm_embd", "visual.post_conv_layernorm"},
    {"v.position_embd", "visual.embeddings.position_embedding"},
    {"v.post_ln", "visual.post_layernorm"},
    {"mm.patch_merger", "visual.downsample"},
    {"mm.model.fc", "visual.merger.proj"},
    {"mm.post_norm", "visual.merger.post_projection_norm"},
    {"mm.gate", "visual.merger.gate_proj"},
    {"mm.up", "visual.merger.up_proj"},
    {"mm.down", "visual.merger.down_proj"},
}};

// Metadata do not say it: the kernel that joins the patches of a token is as large.
std::int64_t glm_merge(const ProjectorFacts& facts) {
  const std::vector<std::int64_t> kernel = facts.shape("mm.patch_merger.weight");
  return kernel.size() == 4 ? kernel.back() : facts.integer("spatial_merge_size", 2);
}

// Files that were converted before llama.cpp knew this model's positions do not say how they are divided: as published.
Json glm_text(const Json& text) {
  Json inner = text;
  inner["model_type"] = text.at("model_type") == "glm4_moe" ? "glm4v_moe_text" : "glm4v_text";
  Json& rope = inner["rope_scaling"];
  if (!rope.contains("mrope_section")) rope["mrope_section"] = {8, 12, 12};
  return inner;
}

// Which release it is, and so how frames are told their times, only the base of the decoder's positions says.
const char* glm_processor_class(const Json& text) {
  constexpr double kBaseOf46V = 500'000.0;
  return text.at("rope_theta").get<double>() >= kBaseOf46V ? "Glm46VProcessor" : "Glm4vProcessor";
}

Json glm_config(const ProjectorKind& kind, const ProjectorFacts& facts, const Json& text, const ProjectorKind::Tokens& tokens) {
  const Json vision = {{"model_type", std::string(kind.model_type) + "_vision"},
                       {"depth", facts.integer("block_count")},
                       {"num_heads", facts.integer("attention.head_count")},
                       {"hidden_size", facts.integer("embedding_length")},
                       {"intermediate_size", facts.rows("mm.gate.weight")},
                       {"out_hidden_size", text.at("hidden_size")},
                       {"image_size", facts.integer("image_size")},
                       {"patch_size", facts.integer("patch_size")},
                       {"spatial_merge_size", glm_merge(facts)},
                       {"temporal_patch_size", 2},
                       {"attention_bias", facts.has_tensor("v.blk.0.attn_qkv.bias")},
                       {"hidden_act", facts.activation()},
                       {"rms_norm_eps", facts.real("attention.layer_norm_epsilon", 1e-5)}};
  return {{"text_config", glm_text(text)},
          {"vision_config", vision},
          {"processor_class", glm_processor_class(text)},
          {"image_token_id", token_id(tokens, kind.markers[0])},
          {"image_start_token_id", token_id(tokens, kind.markers[1])},
          {"image_end_token_id", token_id(tokens, kind.markers[2])}};
}

// The converter leaves bounds out. Published ones are of 16 to 12,288 tokens an image and 60,000 a video, which count both frames of a
// pair.
Json glm_pixels(const ProjectorFacts& facts, std::int64_t least, std::int64_t most) {
  return {{"patch_size", facts.integer("patch_size")},
          {"merge_size", glm_merge(facts)},
          {"temporal_patch_size", 2},
          {"size", {{"shortest_edge", least}, {"longest_edge", most}}}};
}

Json glm_image_processor(const ProjectorFacts& facts) {
  const std::int64_t token_px = square_px(facts, glm_merge(facts));
  return glm_pixels(facts, facts.integer("image_min_pixels", 16 * token_px), facts.integer("image_max_pixels", 12'288 * token_px));
}

Json glm_video_processor(const ProjectorFacts& facts) {
  const std::int64_t token_px = square_px(facts, glm_merge(facts));
  return glm_pixels(facts, 16 * token_px, 60'000 * token_px);
}

constexpr std::array<std::string_view, 1> kOfGlm4 = {"glm4"};
constexpr std::array<std::string_view, 1> kOfGlm4Moe = {"glm4moe"};
constexpr std::array<std::string_view, 3> kGlmMarkers = {"<|image|>", "<|begin_of_image|>", "<|end_of_image|>"};

}  // namespace

std::vector<ProjectorKind> glm4v_projectors() {
  const ProjectorKind dense = {.type = "glm4v",
                               .architectures = kOfGlm4,
                               .class_name = "Glm4vForConditionalGeneration",
                               .model_type = "glm4v",
                               .markers = kGlmMarkers,
                               .whole = kGlmNames,
                               .layer_prefix = "visual.blocks.",
                               .layer = gated_layer_names(),
                               .text_prefix = "model.",
                               .config = &glm_config,
                               .image_processor = &glm_image_processor,
                               .video_processor = &glm_video_processor};
  ProjectorKind experts = dense;
  experts.architectures = kOfGlm4Moe;
  experts.class_name = "Glm4vMoeForConditionalGeneration";
  experts.model_type = "glm4v_moe";
  return {dense, experts};
}

}  // namespace winnow
