#include <algorithm>
#include <array>

#include "engine/model_files/gguf_projector_kinds.h"

namespace winnow {
namespace {

constexpr std::array<NameRule, 2> kTowerNames = {{
    {"mm.input_projection", "model.embed_vision.embedding_projection"},
    {"v.patch_embd", "model.vision_tower.patch_embedder.input_conv"},
}};

constexpr std::array<NameRule, 13> kTowerLayerNames = {{
    {"ln1", "input_layernorm"},
    {"attn_q", "self_attn.q_proj.linear"},
    {"attn_k", "self_attn.k_proj.linear"},
    {"attn_v", "self_attn.v_proj.linear"},
    {"attn_out", "self_attn.o_proj.linear"},
    {"attn_q_norm", "self_attn.q_norm"},
    {"attn_k_norm", "self_attn.k_norm"},
    {"attn_post_norm", "post_attention_layernorm"},
    {"ln2", "pre_feedforward_layernorm"},
    {"ffn_gate", "mlp.gate_proj.linear"},
    {"ffn_up", "mlp.up_proj.linear"},
    {"ffn_down", "mlp.down_proj.linear"},
    {"ffn_post_norm", "post_feedforward_layernorm"},
}};

constexpr std::array<NameRule, 5> kPatchNames = {{
    {"mm.input_projection", "model.embed_vision.embedding_projection"},
    {"v.patch_embd", "model.vision_embedder.planes.patch_dense"},
    {"v.patch_norm.1", "model.vision_embedder.planes.patch_ln1"},
    {"v.patch_norm.2", "model.vision_embedder.patch_ln2"},
    {"v.patch_norm.3", "model.vision_embedder.pos_norm"},
}};

constexpr char kGemma4Layers[] = "model.vision_tower.encoder.layers.";
constexpr char kPositions[] = "v.position_embd.weight";
constexpr std::int64_t kPooled = 3;

// Tables and vectors, whose folder's names have no ".weight", and the bounds of a product beside its matrix.
std::optional<std::string> tower_name(const ProjectorFacts& /*facts*/, std::string_view stored) {
  if (stored == kPositions) return "model.vision_tower.patch_embedder.position_embedding_table";
  if (stored == "v.std_bias") return "model.vision_tower.std_bias";
  if (stored == "v.std_scale") return "model.vision_tower.std_scale";
  constexpr std::string_view kBlock = "v.blk.";
  constexpr std::string_view kMatrix = ".linear";
  const std::size_t last = stored.rfind('.');
  if (!stored.starts_with(kBlock) || !(stored.ends_with("put_min") || stored.ends_with("put_max"))) return std::nullopt;
  const std::size_t end = stored.find('.', kBlock.size());
  if (end >= last) return std::nullopt;
  const auto product = renamed(stored.substr(end + 1, last - end - 1), kTowerLayerNames);
  if (!product || !product->ends_with(kMatrix)) return std::nullopt;
  std::string name = kGemma4Layers + std::string(stored.substr(kBlock.size(), end + 1 - kBlock.size()));
  return name.append(*product, 0, product->size() - kMatrix.size()).append(stored.substr(last));
}

std::optional<std::string> patches_name(const ProjectorFacts& /*facts*/, std::string_view stored) {
  if (stored == kPositions) return "model.vision_embedder.planes.pos_embedding";
  return std::nullopt;
}

std::int64_t pooled(const ProjectorFacts& facts) { return facts.integer("projector.scale_factor", kPooled); }

std::int64_t places(const ProjectorFacts& facts) {
  const std::vector<std::int64_t> shape = facts.shape(kPositions);
  return shape.size() == 3 ? shape[1] : 0;
}

Json around(const ProjectorKind& kind, const Json& text, const ProjectorKind::Tokens& tokens) {
  return {{"text_config", text}, {"image_token_id", token_id(tokens, kind.markers[0])}, {"video_token_id", token_id(tokens, "<|video|>")}};
}

Json tower_config(const ProjectorKind& kind, const ProjectorFacts& facts, const Json& text, const ProjectorKind::Tokens& tokens) {
  const std::vector<std::int64_t> head = facts.shape("v.blk.0.attn_q_norm.weight");
  const std::int64_t heads = facts.integer("attention.head_count");
  Json config = around(kind, text, tokens);
  config["vision_config"] = {{"hidden_size", facts.integer("embedding_length")},
                             {"intermediate_size", facts.integer("feed_forward_length")},
                             {"num_hidden_layers", facts.integer("block_count")},
                             {"num_attention_heads", heads},
                             {"num_key_value_heads", heads},
                             {"head_dim", head.empty() ? 0 : head.front()},
                             {"patch_size", facts.integer("patch_size")},
                             {"pooling_kernel_size", pooled(facts)},
                             {"position_embedding_size", places(facts)},
                             {"rms_norm_eps", facts.real("attention.layer_norm_epsilon", 1e-6)},
                             {"use_clipped_linears", facts.has_tensor("v.blk.0.attn_q.input_max")},
                             {"standardize", facts.has_tensor("v.std_bias")}};
  return config;
}

Json patches_config(const ProjectorKind& kind, const ProjectorFacts& facts, const Json& text, const ProjectorKind::Tokens& tokens) {
  Json config = around(kind, text, tokens);
  config["text_config"]["model_type"] = "gemma4_unified_text";
  const std::int64_t hidden = facts.integer("embedding_length");
  config["vision_config"] = {{"mm_embed_dim", hidden},
                             {"output_proj_dims", hidden},
                             {"patch_size", facts.integer("patch_size")},
                             {"pooling_kernel_size", pooled(facts)},
                             {"mm_posemb_size", places(facts)},
                             {"rms_norm_eps", facts.real("attention.layer_norm_epsilon", 1e-6)}};
  return config;
}

Json soft_tokens(const ProjectorFacts& facts, std::int64_t budget) {
  return {
      {"patch_size", facts.integer("patch_size")}, {"pooling_kernel_size", pooled(facts)}, {"max_soft_tokens", budget}, {"resample", 3}};
}

// The file says how many pixels a picture has at most, if anything.
Json gemma4_image_processor(const ProjectorFacts& facts) {
  constexpr std::int64_t kPublished = 280;
  const std::int64_t side = facts.integer("patch_size") * pooled(facts);
  const bool says = facts.has("image_max_pixels") && side > 0;
  return soft_tokens(facts, says ? facts.integer("image_max_pixels") / (side * side) : kPublished);
}

Json video_processor(const ProjectorFacts& facts) {
  constexpr std::int64_t kPublished = 70;
  return soft_tokens(facts, kPublished);
}

constexpr std::array<std::string_view, 1> kGemma4Architectures = {"gemma4"};
constexpr std::array<std::string_view, 3> kGemma4Markers = {"<|image|>", "<|image>", "<image|>"};

}  // namespace

std::vector<ProjectorKind> gemma4_projectors() {
  return {{.type = "gemma4v",
           .architectures = kGemma4Architectures,
           .class_name = "Gemma4ForConditionalGeneration",
           .model_type = "gemma4",
           .markers = kGemma4Markers,
           .whole = kTowerNames,
           .layer_prefix = kGemma4Layers,
           .layer = kTowerLayerNames,
           .text_prefix = "model.language_model.",
           .further_name = &tower_name,
           .config = &tower_config,
           .image_processor = &gemma4_image_processor,
           .video_processor = &video_processor},
          {.type = "gemma4uv",
           .architectures = kGemma4Architectures,
           .class_name = "Gemma4UnifiedForConditionalGeneration",
           .model_type = "gemma4_unified",
           .markers = kGemma4Markers,
           .whole = kPatchNames,
           .layer_prefix = kGemma4Layers,
           .layer = kTowerLayerNames,
           .text_prefix = "model.language_model.",
           .further_name = &patches_name,
           .config = &patches_config,
           .image_processor = &gemma4_image_processor,
           .video_processor = &video_processor}};
}

}  // namespace winnow
