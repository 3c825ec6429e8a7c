#include <algorithm>
#include <array>

#include "engine/model_files/family_templates.h"
#include "engine/model_files/gguf_projector_kinds.h"

namespace winnow {
namespace {

constexpr std::array<NameRule, 6> kInternvlNames = {{
    {"v.class_embd", "vision_tower.embeddings.cls_token"},
    {"v.patch_embd", "vision_tower.embeddings.patch_embeddings.projection"},
    {"v.post_ln", "vision_tower.layernorm"},
    {"mm.model.mlp.0", "multi_modal_projector.layer_norm"},
    {"mm.model.mlp.1", "multi_modal_projector.linear_1"},
    {"mm.model.mlp.3", "multi_modal_projector.linear_2"},
}};

constexpr std::array<NameRule, 10> kInternvlLayer = {{
    {"ln1", "layernorm_before"},
    {"ln2", "layernorm_after"},
    {"attn_q", "attention.q_proj"},
    {"attn_k", "attention.k_proj"},
    {"attn_v", "attention.v_proj"},
    {"attn_q_norm", "attention.q_norm"},
    {"attn_k_norm", "attention.k_norm"},
    {"attn_out", "attention.projection_layer"},
    {"ffn_up", "mlp.fc1"},
    {"ffn_down", "mlp.fc2"},
}};

constexpr std::array<std::string_view, 2> kTables = {"v.class_embd", "v.position_embd.weight"};
constexpr std::array<std::string_view, 4> kInternvlArchitectures = {"qwen2", "qwen3", "llama", "internlm2"};
constexpr std::array<std::string_view, 2> kInternvlMarkers = {"<IMG_CONTEXT>", "<img>"};

// Positions and what a block's halves are scaled by are no weights of a layer in the folder: "v.blk.5.ls1.weight" is lambda_1.
std::optional<std::string> table_name(const ProjectorFacts&, std::string_view stored) {
  constexpr std::string_view kBlock = "v.blk.";
  if (stored == "v.position_embd.weight") return "vision_tower.embeddings.position_embeddings";
  if (!stored.starts_with(kBlock)) return std::nullopt;
  for (const auto& [ending, name] : {std::pair(".ls1.weight", "lambda_1"), std::pair(".ls2.weight", "lambda_2")}) {
    if (!stored.ends_with(ending)) continue;
    const std::string_view layer = stored.substr(kBlock.size(), stored.size() - kBlock.size() - std::string_view(ending).size());
    return "vision_tower.encoder.layer." + std::string(layer) + "." + name;
  }
  return std::nullopt;
}

std::int64_t scale(const ProjectorFacts& facts) { return std::clamp<std::int64_t>(facts.integer("projector.scale_factor", 2), 1, 1024); }

Json internvl_config(const ProjectorKind& kind, const ProjectorFacts& facts, const Json& text, const ProjectorKind::Tokens& tokens) {
  return {{"text_config", text},
          {"image_token_id", token_id(tokens, kind.markers[0])},
          {"downsample_ratio", 1.0 / static_cast<double>(scale(facts))},
          {"projector_hidden_act", "gelu"},
          {"vision_feature_layer", -1},
          {"vision_feature_select_strategy", "default"},
          {"vision_config",
           {{"model_type", "internvl_vision"},
            {"hidden_size", facts.integer("embedding_length")},
            {"intermediate_size", facts.inner_size()},
            {"num_hidden_layers", facts.integer("block_count")},
            {"num_attention_heads", facts.integer("attention.head_count")},
            {"image_size", facts.integer("image_size")},
            {"patch_size", facts.integer("patch_size")},
            {"layer_norm_eps", facts.real("attention.layer_norm_epsilon", 1e-6)},
            {"hidden_act", facts.activation()},
            {"norm_type", facts.has_tensor("v.blk.0.ln1.bias") ? "layer_norm" : "rms_norm"},  // of the 300M, of the 6B
            {"attention_bias", facts.has_tensor("v.blk.0.attn_q.bias")},
            {"use_qk_norm", facts.has_tensor("v.blk.0.attn_q_norm.weight")},
            {"use_mean_pooling", !facts.has_tensor("v.post_ln.weight")}}}};
}

Json internvl_processor(const ProjectorFacts& facts) {
  const std::int64_t cell = facts.integer("patch_size") * scale(facts);
  const std::int64_t side = cell > 0 ? std::min(facts.integer("image_size") / cell, std::int64_t{1} << 20) : 0;
  return {{"image_seq_length", side * side}};
}

// OpenGVLab/InternVL3-1B-hf: 1 to 12 tiles. Files of 2025 and later say how many.
Json internvl_image_processor(const ProjectorFacts& facts) {
  const std::int64_t side = facts.integer("image_size");
  return {{"image_processor_type", "GotOcr2ImageProcessorFast"},
          {"size", {{"height", side}, {"width", side}}},
          {"min_patches", facts.integer("preproc_min_tiles", 1)},
          {"max_patches", facts.integer("preproc_max_tiles", 12)},
          {"resample", 3}};
}

// The template of OpenGVLab/InternVL3-1B-hf.
std::string_view internvl_chat_template(const ProjectorFacts&, const Json&, const ProjectorKind::Tokens&) {
  return family_template("internvl_gguf");
}

}  // namespace

std::vector<ProjectorKind> internvl_projectors() {
  return {{.type = "internvl",
           .architectures = kInternvlArchitectures,
           .class_name = "InternVLForConditionalGeneration",
           .model_type = "internvl",
           .markers = kInternvlMarkers,
           .whole = kInternvlNames,
           .layer_prefix = "vision_tower.encoder.layer.",
           .layer = kInternvlLayer,
           .text_prefix = "model.language_model.",
           .of_three_dimensions = kTables,
           .further_name = &table_name,
           .config = &internvl_config,
           .processor = &internvl_processor,
           .image_processor = &internvl_image_processor,
           .chat_template = &internvl_chat_template}};
}

}  // namespace winnow
