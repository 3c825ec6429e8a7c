#include <algorithm>
#include <array>
#include <cmath>

#include "engine/model_files/gguf_projector_kinds.h"

namespace winnow {
namespace {

constexpr std::array<NameRule, 14> kMiniCpmVNames = {{
    {"v.patch_embd", "model.vision_tower.embeddings.patch_embedding"},
    {"v.position_embd", "model.vision_tower.embeddings.position_embedding"},
    {"v.post_ln", "model.vision_tower.post_layernorm"},
    {"v.vit_merger.ln1", "model.vision_tower.vit_merger.layer_norm1"},
    {"v.vit_merger.attn_q", "model.vision_tower.vit_merger.self_attn.q_proj"},
    {"v.vit_merger.attn_k", "model.vision_tower.vit_merger.self_attn.k_proj"},
    {"v.vit_merger.attn_v", "model.vision_tower.vit_merger.self_attn.v_proj"},
    {"v.vit_merger.attn_out", "model.vision_tower.vit_merger.self_attn.out_proj"},
    {"v.vit_merger.ds_ln", "model.vision_tower.vit_merger.pre_norm"},
    {"v.vit_merger.ds_ffn_up", "model.vision_tower.vit_merger.linear_1"},
    {"v.vit_merger.ds_ffn_down", "model.vision_tower.vit_merger.linear_2"},
    {"mm.input_norm", "model.merger.mlp.0.pre_norm"},
    {"mm.up", "model.merger.mlp.0.linear_1"},
    {"mm.down", "model.merger.mlp.0.linear_2"},
}};

constexpr std::int64_t kMostSide = 4096;  // of the table and of a patch; the family has the real limits

const char* downsample_mode(const ProjectorFacts& facts) { return facts.integer("projector.scale_factor", 4) == 2 ? "4x" : "16x"; }

std::optional<std::string> minicpmv_obstacle(const ProjectorFacts& facts) {
  const std::int64_t joined = facts.integer("projector.scale_factor", 4);
  if (joined == 2 || joined == 4) return std::nullopt;
  return "a token of it is made of " + std::to_string(joined) + " patches a side, neither 2 nor 4";
}

// Four patches become one after this layer.
std::int64_t merger_layer(const ProjectorFacts& facts) {
  constexpr const char* kKey = "wa_layer_indexes";
  const std::vector<std::int64_t> told = facts.has(kKey) ? facts.integers(kKey) : std::vector<std::int64_t>();
  return told.empty() ? 6 : told.front();
}

Json minicpmv_config(const ProjectorKind& kind, const ProjectorFacts& facts, const Json& text, const ProjectorKind::Tokens& tokens) {
  Json vision = siglip_config(facts);
  vision["model_type"] = "minicpmv4_6_vision";
  vision["hidden_act"] = "gelu_pytorch_tanh";
  // image_size is a slice's; the table of positions, which is square, says the folder's.
  const auto side = static_cast<std::int64_t>(std::sqrt(static_cast<double>(facts.rows("v.position_embd.weight"))));
  vision["image_size"] = std::min(side, kMostSide) * std::min(facts.integer("patch_size"), kMostSide);
  return {{"text_config", text},
          {"vision_config", vision},
          {"insert_layer_id", merger_layer(facts)},
          {"downsample_mode", downsample_mode(facts)},
          {"image_token_id", token_id(tokens, kind.markers[0])},
          {"video_token_id", token_id(tokens, kind.markers[1])}};
}

// At most nine slices, images with their numbers, resized bicubically: as published, and so the defaults of the family.
Json minicpmv_image_processor(const ProjectorFacts& facts) {
  return {{"image_processor_type", "MiniCPMV4_6ImageProcessor"},
          {"scale_resolution", facts.integer("image_size")},
          {"patch_size", facts.integer("patch_size")},
          {"downsample_mode", downsample_mode(facts)}};
}

constexpr std::array<std::string_view, 1> kOfMiniCpmV = {"qwen35"};
constexpr std::array<std::string_view, 8> kMiniCpmVMarkers = {"<|image_pad|>", "<|video_pad|>", "<image>",    "</image>",
                                                              "<slice>",       "</slice>",      "<image_id>", "</image_id>"};

}  // namespace

std::vector<ProjectorKind> minicpmv_projectors() {
  return {{.type = "minicpmv4_6",
           .architectures = kOfMiniCpmV,
           .class_name = "MiniCPMV4_6ForConditionalGeneration",
           .model_type = "minicpmv4_6",
           .markers = kMiniCpmVMarkers,
           .whole = kMiniCpmVNames,
           .layer_prefix = "model.vision_tower.encoder.layers.",
           .layer = siglip_layer_names(),
           .text_prefix = "model.language_model.",
           .obstacle = &minicpmv_obstacle,
           .config = &minicpmv_config,
           .image_processor = &minicpmv_image_processor}};
}

}  // namespace winnow
