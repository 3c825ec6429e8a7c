#include <array>

#include "engine/model_files/gguf_projector_kinds.h"

namespace winnow {
namespace {

constexpr std::array<NameRule, 6> kPixtralNames = {{
    {"v.patch_embd", "vision_tower.patch_conv"},
    {"v.pre_ln", "vision_tower.ln_pre"},
    {"mm.input_norm", "multi_modal_projector.norm"},
    {"mm.patch_merger", "multi_modal_projector.patch_merger.merging_layer"},
    {"mm.1", "multi_modal_projector.linear_1"},
    {"mm.2", "multi_modal_projector.linear_2"},
}};

constexpr std::array<NameRule, 9> kPixtralLayer = {{
    {"ln1", "attention_norm"},
    {"ln2", "ffn_norm"},
    {"attn_q", "attention.q_proj"},
    {"attn_k", "attention.k_proj"},
    {"attn_v", "attention.v_proj"},
    {"attn_out", "attention.o_proj"},
    {"ffn_gate", "feed_forward.gate_proj"},
    {"ffn_up", "feed_forward.up_proj"},
    {"ffn_down", "feed_forward.down_proj"},
}};

std::optional<std::string> pixtral_obstacle(const ProjectorFacts& facts) {
  if (facts.has_tensor("mm.patch_merger.weight")) return std::nullopt;
  return "its projector joins no patches, as Pixtral 12B's, which is not read";
}

std::int64_t merge(const ProjectorFacts& facts) { return facts.integer("spatial_merge_size", 2); }

Json pixtral_config(const ProjectorKind& kind, const ProjectorFacts& facts, const Json& text, const ProjectorKind::Tokens& tokens) {
  Json vision = {{"model_type", "pixtral"},
                 {"hidden_size", facts.integer("embedding_length")},
                 {"intermediate_size", facts.integer("feed_forward_length")},
                 {"num_hidden_layers", facts.integer("block_count")},
                 {"num_attention_heads", facts.integer("attention.head_count")},
                 {"image_size", facts.integer("image_size")},
                 {"patch_size", facts.integer("patch_size")},
                 {"hidden_act", facts.activation()},
                 {"rope_theta", facts.positive("rope.freq_base", 10'000.0)}};
  if (facts.has("attention.key_length")) vision["head_dim"] = facts.integer("attention.key_length");
  return {{"text_config", text},
          {"vision_config", vision},
          {"image_token_index", token_id(tokens, kind.markers[0])},
          {"spatial_merge_size", merge(facts)},
          {"multimodal_projector_bias", facts.has_tensor("mm.1.bias")},
          {"vision_feature_layer", -1}};
}

Json pixtral_processor(const ProjectorFacts& facts) {
  return {{"patch_size", facts.integer("patch_size")}, {"spatial_merge_size", merge(facts)}};
}

Json pixtral_image_processor(const ProjectorFacts& facts) {
  return {{"image_processor_type", "PixtralImageProcessor"},
          {"patch_size", facts.integer("patch_size")},
          {"size", {{"longest_edge", facts.integer("longest_edge", facts.integer("image_size"))}}},
          {"resample", 3}};
}

constexpr std::array<std::string_view, 2> kPixtralArchitectures = {"mistral3", "llama"};  // the second in files of early converters
constexpr std::array<std::string_view, 3> kPixtralMarkers = {"[IMG]", "[IMG_BREAK]", "[IMG_END]"};

}  // namespace

std::vector<ProjectorKind> pixtral_projectors() {
  return {{.type = "pixtral",
           .architectures = kPixtralArchitectures,
           .class_name = "Mistral3ForConditionalGeneration",
           .model_type = "mistral3",
           .markers = kPixtralMarkers,
           .whole = kPixtralNames,
           .layer_prefix = "vision_tower.transformer.layers.",
           .layer = kPixtralLayer,
           .text_prefix = "model.language_model.",
           .interleaved = true,
           .obstacle = &pixtral_obstacle,
           .config = &pixtral_config,
           .processor = &pixtral_processor,
           .image_processor = &pixtral_image_processor}};
}

}  // namespace winnow
