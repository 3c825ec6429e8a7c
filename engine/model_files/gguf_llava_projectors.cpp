#include <array>

#include "engine/model_files/family_templates.h"
#include "engine/model_files/gguf_projector_kinds.h"

namespace winnow {
namespace {

constexpr std::array<NameRule, 8> kLlavaNames = {{
    {"v.class_embd", "vision_tower.vision_model.embeddings.class_embedding"},
    {"v.patch_embd", "vision_tower.vision_model.embeddings.patch_embedding"},
    {"v.position_embd", "vision_tower.vision_model.embeddings.position_embedding"},
    {"v.pre_ln", "vision_tower.vision_model.pre_layrnorm"},
    {"v.post_ln", "vision_tower.vision_model.post_layernorm"},
    {"mm.0", "multi_modal_projector.linear_1"},
    {"mm.2", "multi_modal_projector.linear_2"},
    {"model.image_newline", "image_newline"},
}};

constexpr std::array<std::string_view, 3> kLlavaArchitectures = {"llama", "qwen2", "mistral3"};
constexpr std::array<std::string_view, 1> kLlavaMarkers = {"<image>"};

bool tiles(const ProjectorFacts& facts) { return facts.has("image_grid_pinpoints") || facts.has_tensor("model.image_newline"); }
bool tiles_not(const ProjectorFacts& facts) { return !tiles(facts); }

std::optional<std::string> llava_obstacle(const ProjectorFacts& facts) {
  if (!facts.has_tensor("v.class_embd") || !facts.has_tensor("v.pre_ln.weight"))
    return "its vision tower is no CLIP, and the engine runs the projector \"mlp\" behind CLIP";
  if (facts.has_tensor("mm.3.weight"))
    return "its projector has norms behind its layers, as Yi-VL's has, and the engine runs the projector \"mlp\" without";
  if (facts.shape("mm.0.weight").size() != 2 || facts.shape("mm.2.weight").size() != 2)
    return "its projector is not of two layers (mm.0, mm.2)";
  return std::nullopt;
}

std::int64_t width(const ProjectorFacts& facts) { return facts.shape("mm.2.weight").front(); }

// Pairs as the file has them, one number after the other.
Json pinpoints(const ProjectorFacts& facts) {
  const std::vector<std::int64_t> numbers = facts.integers("image_grid_pinpoints");
  Json pairs = Json::array();
  for (std::size_t i = 0; i < numbers.size(); i += 2) {
    pairs.push_back(i + 1 < numbers.size() ? Json{numbers[i], numbers[i + 1]} : Json{numbers[i]});
  }
  return pairs;
}

Json llava_config(const ProjectorKind& kind, const ProjectorFacts& facts, const Json& text, const ProjectorKind::Tokens& tokens) {
  Json vision = {{"model_type", "clip_vision_model"},
                 {"hidden_size", facts.integer("embedding_length")},
                 {"intermediate_size", facts.inner_size()},
                 {"num_hidden_layers", facts.integer("block_count")},
                 {"num_attention_heads", facts.integer("attention.head_count")},
                 {"image_size", facts.integer("image_size")},
                 {"patch_size", facts.integer("patch_size")},
                 {"layer_norm_eps", facts.real("attention.layer_norm_epsilon", 1e-5)},
                 {"hidden_act", facts.activation()}};
  Json config = {{"text_config", text},
                 {"vision_config", vision},
                 {"image_token_id", token_id(tokens, kind.markers[0])},
                 {"multimodal_projector_bias", facts.has_tensor("mm.0.bias")},
                 {"projector_hidden_act", "gelu"},
                 {"vision_feature_select_strategy", "default"}};
  // Converters leave out what lies behind the features, so the last state of the file is theirs.
  if (facts.has("feature_layer")) {
    config["vision_feature_layer"] = facts.integers("feature_layer");
  } else {
    config["vision_feature_layer"] = -1;
  }
  if (facts.has("image_grid_pinpoints")) config["image_grid_pinpoints"] = pinpoints(facts);
  return config;
}

// The image processor of llava-hf/llava-1.5-7b-hf.
Json llava_image_processor(const ProjectorFacts& facts) {
  const std::int64_t side = facts.integer("image_size");
  return {{"image_processor_type", "CLIPImageProcessor"},
          {"size", {{"shortest_edge", side}}},
          {"do_center_crop", true},
          {"crop_size", {{"height", side}, {"width", side}}},
          {"resample", 3}};
}

// The image processor of llava-hf/llava-v1.6-mistral-7b-hf.
Json tiling_image_processor(const ProjectorFacts& facts) {
  Json pixels = llava_image_processor(facts);
  pixels["image_processor_type"] = "LlavaNextImageProcessor";
  if (facts.has("image_grid_pinpoints")) pixels["image_grid_pinpoints"] = pinpoints(facts);
  return pixels;
}

// A vocabulary with ChatML's marker is that of the 34B (Yi); of the others Mistral shares keys among queries, Vicuna does not.
std::string_view llava_chat_template(const ProjectorFacts& facts, const Json& text, const ProjectorKind::Tokens& tokens) {
  if (token_id(tokens, "<|im_start|>") < std::ssize(tokens)) return family_template("llava_chatml");
  return tiles(facts) && text.at("num_key_value_heads") != text.at("num_attention_heads") ? family_template("llava_mistral")
                                                                                          : family_template("llava");
}

}  // namespace

std::vector<ProjectorKind> llava_projectors() {
  ProjectorKind square = {.type = "mlp",
                          .architectures = kLlavaArchitectures,
                          .is_of = &tiles_not,
                          .class_name = "LlavaForConditionalGeneration",
                          .model_type = "llava",
                          .markers = kLlavaMarkers,
                          .marker_may_lack = true,
                          .whole = kLlavaNames,
                          .layer_prefix = "vision_tower.vision_model.encoder.layers.",
                          .layer = siglip_layer_names(),
                          .text_prefix = "model.language_model.",
                          .obstacle = &llava_obstacle,
                          .width = &width,
                          .config = &llava_config,
                          .image_processor = &llava_image_processor,
                          .chat_template = &llava_chat_template};
  ProjectorKind tiled = square;
  tiled.is_of = &tiles;
  tiled.class_name = "LlavaNextForConditionalGeneration";
  tiled.model_type = "llava_next";
  tiled.image_processor = &tiling_image_processor;
  return {square, tiled};
}

}  // namespace winnow
