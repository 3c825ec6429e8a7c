#include <algorithm>
#include <array>
#include <charconv>

#include "engine/model_files/gguf_projector_kinds.h"

namespace winnow {
namespace {

constexpr std::int64_t kMostLayers = 1024;

constexpr std::array<NameRule, 9> kQwen2VlLayer = {{
    {"ln1", "norm1"},
    {"ln2", "norm2"},
    {"attn_qkv", "attn.qkv"},
    {"attn_q", "attn.q"},
    {"attn_k", "attn.k"},
    {"attn_v", "attn.v"},
    {"attn_out", "attn.proj"},
    {"ffn_up", "mlp.fc1"},
    {"ffn_down", "mlp.fc2"},
}};

constexpr std::array<NameRule, 9> kQwen3VlLayer = {{
    {"ln1", "norm1"},
    {"ln2", "norm2"},
    {"attn_qkv", "attn.qkv"},
    {"attn_q", "attn.q"},
    {"attn_k", "attn.k"},
    {"attn_v", "attn.v"},
    {"attn_out", "attn.proj"},
    {"ffn_up", "mlp.linear_fc1"},
    {"ffn_down", "mlp.linear_fc2"},
}};

// The kernel that joins two frames is stored as one for each of them: "v.patch_embd.weight" and "v.patch_embd.weight.1".
constexpr std::array<NameRule, 5> kQwen2Vl = {{
    {"v.patch_embd", "visual.patch_embed.proj.0"},
    {"v.patch_embd.weight", "visual.patch_embed.proj.1"},
    {"v.post_ln", "visual.merger.ln_q"},
    {"mm.0", "visual.merger.mlp.0"},
    {"mm.2", "visual.merger.mlp.2"},
}};

constexpr std::array<NameRule, 8> kQwen3Vl = {{
    {"v.patch_embd.bias", "visual.patch_embed.proj.bias"},  // one for both
    {"v.patch_embd", "visual.patch_embed.proj.0"},
    {"v.patch_embd.weight", "visual.patch_embed.proj.1"},
    {"v.patch_embed", "visual.patch_embed.proj"},  // both kernels, inside a model's own file
    {"v.position_embd", "visual.pos_embed"},
    {"v.post_ln", "visual.merger.norm"},
    {"mm.0", "visual.merger.linear_fc1"},
    {"mm.2", "visual.merger.linear_fc2"},
}};

Json qwen_vision(const ProjectorFacts& facts, const char* model_type) {
  return {{"model_type", model_type},
          {"depth", facts.integer("block_count")},
          {"num_heads", facts.integer("attention.head_count")},
          {"patch_size", facts.integer("patch_size")},
          {"spatial_merge_size", facts.integer("spatial_merge_size", 2)},
          {"temporal_patch_size", 2}};
}

// Every so many of them, or those that a model's own file lists; the published ones where its list is empty. None: no layer has windows.
std::vector<std::int64_t> layers_without_windows(const ProjectorFacts& facts) {
  std::vector<std::int64_t> whole;
  if (facts.has("fullatt_block_indexes")) whole = facts.integers("fullatt_block_indexes");
  if (!whole.empty()) return whole;
  const std::int64_t pattern = facts.integer("n_wa_pattern", 0);
  for (std::int64_t layer = pattern - 1; pattern > 0 && layer < std::min(facts.integer("block_count"), kMostLayers); layer += pattern)
    whole.push_back(layer);
  if (whole.empty() && facts.has("window_size")) whole = {7, 15, 23, 31};
  return whole;
}

Json qwen2_vl_config(const ProjectorKind& kind, const ProjectorFacts& facts, const Json& text, const ProjectorKind::Tokens& tokens) {
  Json config = text;
  config["image_token_id"] = token_id(tokens, kind.markers[0]);
  config["video_token_id"] = token_id(tokens, kind.markers[1]);
  const std::int64_t hidden = facts.integer("embedding_length");
  Json vision = qwen_vision(facts, kind.model_type);
  if (const std::vector<std::int64_t> whole = layers_without_windows(facts); !whole.empty()) {
    vision["fullatt_block_indexes"] = whole;
    vision["window_size"] = facts.integer("window_size", 112);
    vision["tokens_per_second"] = 2;
    vision["hidden_size"] = hidden;
    vision["out_hidden_size"] = text.at("hidden_size");
    vision["intermediate_size"] = facts.inner_size();
  } else {
    vision["embed_dim"] = hidden;
    vision["hidden_size"] = text.at("hidden_size");
    vision["mlp_ratio"] = hidden > 0 ? static_cast<double>(facts.inner_size()) / static_cast<double>(hidden) : 0.0;
  }
  config["vision_config"] = vision;
  return config;
}

std::vector<std::int64_t> deepstack_layers(const ProjectorFacts& facts) {
  std::vector<std::int64_t> layers;
  if (facts.has("deepstack_visual_indexes")) return facts.integers("deepstack_visual_indexes");  // in a model's own file
  if (!facts.has("is_deepstack_layers")) return layers;
  const std::vector<std::int64_t> flags = facts.integers("is_deepstack_layers");
  for (std::size_t layer = 0; layer < flags.size(); ++layer) {
    if (flags[layer] != 0) layers.push_back(static_cast<std::int64_t>(layer));
  }
  return layers;
}

Json qwen3_vl_config(const ProjectorKind& kind, const ProjectorFacts& facts, const Json& text, const ProjectorKind::Tokens& tokens) {
  Json inner = text;
  const std::string type = text.at("model_type");
  inner["model_type"] = type == "qwen3_moe" ? "qwen3_vl_moe_text" : type == "qwen3" ? "qwen3_vl_text" : type;
  Json vision = qwen_vision(facts, kind.model_type);
  vision["num_position_embeddings"] = facts.rows("v.position_embd.weight");
  vision["deepstack_visual_indexes"] = deepstack_layers(facts);
  vision["hidden_size"] = facts.integer("embedding_length");
  vision["intermediate_size"] = facts.inner_size();
  vision["out_hidden_size"] = text.at("hidden_size");
  return {{"text_config", inner},
          {"vision_config", vision},
          {"image_token_id", token_id(tokens, kind.markers[0])},
          {"video_token_id", token_id(tokens, kind.markers[1])},
          {"vision_start_token_id", token_id(tokens, "<|vision_start|>")},
          {"vision_end_token_id", token_id(tokens, "<|vision_end|>")}};
}

Json qwen_pixels(const ProjectorFacts& facts) {
  return {{"patch_size", facts.integer("patch_size")}, {"merge_size", facts.integer("spatial_merge_size", 2)}, {"temporal_patch_size", 2}};
}

Json qwen2_vl_image_processor(const ProjectorFacts& facts) {
  Json pixels = qwen_pixels(facts);
  pixels["image_processor_type"] = "Qwen2VLImageProcessor";
  pixels["min_pixels"] = facts.integer("image_min_pixels", 3136);
  pixels["max_pixels"] = facts.integer("image_max_pixels", 12'845'056);
  return pixels;
}

// Published bounds are of 16 px patches: 64 to 16,384 tokens an image, 4 to 24,576 a video.
std::int64_t qwen3_vl_token_px(const ProjectorFacts& facts) { return square_px(facts, facts.integer("spatial_merge_size", 2)); }

Json qwen3_vl_image_processor(const ProjectorFacts& facts) {
  Json pixels = qwen_pixels(facts);
  pixels["image_processor_type"] = "Qwen2VLImageProcessorFast";
  const auto bound = [&](const char* key, std::int64_t published_tokens) {
    const std::int64_t told = facts.integer(key, 0);  // Ollama's files say 0 where they have none
    return told > 0 ? told : published_tokens * qwen3_vl_token_px(facts);
  };
  pixels["size"] = {{"shortest_edge", bound("image_min_pixels", 64)}, {"longest_edge", bound("image_max_pixels", 16'384)}};
  return pixels;
}

Json qwen3_vl_video_processor(const ProjectorFacts& facts) {
  Json pixels = qwen_pixels(facts);
  pixels["video_processor_type"] = "Qwen3VLVideoProcessor";
  pixels["size"] = {{"shortest_edge", 4 * qwen3_vl_token_px(facts)}, {"longest_edge", 24'576 * qwen3_vl_token_px(facts)}};
  return pixels;
}

// "v.deepstack.5.fc1" is of the merger behind layer 5, which the folder counts among the mergers.
std::optional<std::string> deepstack_name(const ProjectorFacts& facts, std::string_view stored) {
  static constexpr std::array<NameRule, 3> kRules = {{{"norm", "norm"}, {"fc1", "linear_fc1"}, {"fc2", "linear_fc2"}}};
  constexpr std::string_view kPrefix = "v.deepstack.";
  const std::size_t dot = stored.rfind('.');
  if (!stored.starts_with(kPrefix) || dot < kPrefix.size()) return std::nullopt;
  const std::string_view rest = stored.substr(kPrefix.size(), dot - kPrefix.size());
  const std::size_t end = rest.find('.');
  std::int64_t layer = -1;
  if (end == std::string_view::npos || std::from_chars(rest.data(), rest.data() + end, layer).ptr != rest.data() + end) return std::nullopt;
  const std::vector<std::int64_t> layers = deepstack_layers(facts);
  const auto found = std::ranges::find(layers, layer);
  const auto name = renamed(rest.substr(end + 1), kRules);
  if (found == layers.end() || !name) return std::nullopt;
  return "visual.deepstack_merger_list." + std::to_string(found - layers.begin()) + "." + *name + std::string(stored.substr(dot));
}

constexpr std::array<std::string_view, 2> kQwenVlMarkers = {"<|image_pad|>", "<|video_pad|>"};
constexpr std::array<std::string_view, 1> kOfQwen2 = {"qwen2vl"};
constexpr std::array<std::string_view, 2> kOfQwen25 = {"qwen2vl", "qwen25vl"};  // llama.cpp's and Ollama's
constexpr std::array<std::string_view, 1> kOfQwen3 = {"qwen3vl"};
constexpr std::array<std::string_view, 1> kOfQwen3Moe = {"qwen3vlmoe"};
constexpr std::array<std::string_view, 1> kOfQwen35 = {"qwen35"};
constexpr std::array<std::string_view, 1> kOfQwen35Moe = {"qwen35moe"};

}  // namespace

std::vector<ProjectorKind> qwen_vl_projectors() {
  ProjectorKind second = {.type = "qwen2vl_merger",
                          .architectures = kOfQwen2,
                          .class_name = "Qwen2VLForConditionalGeneration",
                          .model_type = "qwen2_vl",
                          .markers = kQwenVlMarkers,
                          .whole = kQwen2Vl,
                          .layer_prefix = "visual.blocks.",
                          .layer = kQwen2VlLayer,
                          .text_prefix = "model.",
                          .config = &qwen2_vl_config,
                          .image_processor = &qwen2_vl_image_processor};
  ProjectorKind windowed = second;
  windowed.type = "qwen2.5vl_merger";
  windowed.architectures = kOfQwen25;
  windowed.class_name = "Qwen2_5_VLForConditionalGeneration";
  windowed.model_type = "qwen2_5_vl";
  windowed.layer = gated_layer_names();
  ProjectorKind third = second;
  third.type = "qwen3vl_merger";
  third.architectures = kOfQwen3;
  third.class_name = "Qwen3VLForConditionalGeneration";
  third.model_type = "qwen3_vl";
  third.whole = kQwen3Vl;
  third.layer = kQwen3VlLayer;
  third.further_name = &deepstack_name;
  third.config = &qwen3_vl_config;
  third.image_processor = &qwen3_vl_image_processor;
  third.video_processor = &qwen3_vl_video_processor;
  ProjectorKind experts = third;
  experts.architectures = kOfQwen3Moe;
  experts.class_name = "Qwen3VLMoeForConditionalGeneration";
  experts.model_type = "qwen3_vl_moe";
  ProjectorKind hybrid = third;
  hybrid.architectures = kOfQwen35;
  hybrid.class_name = "Qwen3_5ForConditionalGeneration";
  hybrid.model_type = "qwen3_5";
  ProjectorKind hybrid_experts = third;
  hybrid_experts.architectures = kOfQwen35Moe;
  hybrid_experts.class_name = "Qwen3_5MoeForConditionalGeneration";
  hybrid_experts.model_type = "qwen3_5_moe";
  return {second, windowed, third, experts, hybrid, hybrid_experts};
}

}  // namespace winnow
