#include "engine/model_files/gguf_projector_kinds.h"

#include <algorithm>
#include <charconv>

#include "engine/base/error.h"

namespace winnow {
namespace {

constexpr std::int64_t kMany = std::int64_t{1} << 40;  // the families have the real limits
constexpr std::int64_t kMostLayers = 1024;
constexpr std::int64_t kMostPx = 4096;

std::string full(const char* key) { return std::string("clip.vision.") + key; }

std::int64_t token_id(const ProjectorKind::Tokens& tokens, std::string_view token) {
  return std::ranges::find(tokens, token) - tokens.begin();
}

constexpr std::array<NameRule, 8> kSiglipLayer = {{
    {"ln1", "layer_norm1"},
    {"ln2", "layer_norm2"},
    {"attn_q", "self_attn.q_proj"},
    {"attn_k", "self_attn.k_proj"},
    {"attn_v", "self_attn.v_proj"},
    {"attn_out", "self_attn.out_proj"},
    {"ffn_up", "mlp.fc1"},
    {"ffn_down", "mlp.fc2"},
}};

constexpr std::array<NameRule, 4> kSmolVlm = {{
    {"v.patch_embd", "model.vision_model.embeddings.patch_embedding"},
    {"v.position_embd", "model.vision_model.embeddings.position_embedding"},
    {"v.post_ln", "model.vision_model.post_layernorm"},
    {"mm.model.fc", "model.connector.modality_projection.proj"},
}};

Json siglip_config(const ProjectorFacts& facts) {
  return {{"hidden_size", facts.integer("embedding_length")},
          {"intermediate_size", facts.integer("feed_forward_length")},
          {"num_hidden_layers", facts.integer("block_count")},
          {"num_attention_heads", facts.integer("attention.head_count")},
          {"image_size", facts.integer("image_size")},
          {"patch_size", facts.integer("patch_size")},
          {"layer_norm_eps", facts.real("attention.layer_norm_epsilon", 1e-6)}};
}

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

constexpr std::string_view kGemma3Norm = "mm.soft_emb_norm";
constexpr std::string_view kGemma3Projection = "mm.input_projection";

constexpr std::array<NameRule, 4> kGemma3 = {{
    {"v.patch_embd", "vision_tower.vision_model.embeddings.patch_embedding"},
    {"v.position_embd", "vision_tower.vision_model.embeddings.position_embedding"},
    {"v.post_ln", "vision_tower.vision_model.post_layernorm"},
    {kGemma3Norm, "multi_modal_projector.mm_soft_emb_norm"},
}};

// Of a picture.
std::int64_t gemma3_tokens(const ProjectorFacts& facts) {
  const std::int64_t cell = facts.integer("patch_size") * facts.integer("projector.scale_factor", 4);
  const std::int64_t side = cell > 0 ? std::min(facts.integer("image_size") / cell, std::int64_t{1} << 20) : 0;
  return side * side;
}

Json gemma3_config(const ProjectorKind& kind, const ProjectorFacts& facts, const Json& text, const ProjectorKind::Tokens& tokens) {
  return {{"text_config", text},
          {"image_token_index", token_id(tokens, kind.markers[0])},
          {"mm_tokens_per_image", gemma3_tokens(facts)},
          {"vision_config", siglip_config(facts)}};
}

Json gemma3_processor(const ProjectorFacts& facts) { return {{"image_seq_length", gemma3_tokens(facts)}}; }

Json gemma3_image_processor(const ProjectorFacts& facts) {
  const std::int64_t side = facts.integer("image_size");
  return {{"image_processor_type", "Gemma3ImageProcessor"}, {"size", {{"height", side}, {"width", side}}}, {"resample", 2}};
}

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

constexpr std::array<NameRule, 10> kQwen2_5VlLayer = {{
    {"ln1", "norm1"},
    {"ln2", "norm2"},
    {"attn_qkv", "attn.qkv"},
    {"attn_q", "attn.q"},
    {"attn_k", "attn.k"},
    {"attn_v", "attn.v"},
    {"attn_out", "attn.proj"},
    {"ffn_gate", "mlp.gate_proj"},
    {"ffn_up", "mlp.up_proj"},
    {"ffn_down", "mlp.down_proj"},
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

constexpr std::array<NameRule, 6> kQwen3Vl = {{
    {"v.patch_embd", "visual.patch_embed.proj.0"},
    {"v.patch_embd.weight", "visual.patch_embed.proj.1"},
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

Json qwen2_vl_config(const ProjectorKind& kind, const ProjectorFacts& facts, const Json& text, const ProjectorKind::Tokens& tokens) {
  Json config = text;
  config["image_token_id"] = token_id(tokens, kind.markers[0]);
  config["video_token_id"] = token_id(tokens, kind.markers[1]);
  const std::int64_t hidden = facts.integer("embedding_length");
  Json vision = qwen_vision(facts, kind.model_type);
  if (const std::int64_t pattern = facts.integer("n_wa_pattern", 0); pattern > 0) {
    std::vector<std::int64_t> whole;
    for (std::int64_t layer = pattern - 1; layer < std::min(facts.integer("block_count"), kMostLayers); layer += pattern)
      whole.push_back(layer);
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
  if (!facts.has("is_deepstack_layers")) return layers;
  const std::vector<std::int64_t> flags = facts.integers("is_deepstack_layers");
  for (std::size_t layer = 0; layer < flags.size(); ++layer) {
    if (flags[layer] != 0) layers.push_back(static_cast<std::int64_t>(layer));
  }
  return layers;
}

Json qwen3_vl_config(const ProjectorKind& kind, const ProjectorFacts& facts, const Json& text, const ProjectorKind::Tokens& tokens) {
  Json inner = text;
  inner["model_type"] = "qwen3_vl_text";
  Json vision = qwen_vision(facts, kind.model_type);
  const std::int64_t patch = std::max(facts.integer("patch_size"), std::int64_t{1});
  const std::int64_t side = std::min(facts.integer("image_size") / patch, std::int64_t{1} << 20);
  vision["num_position_embeddings"] = side * side;
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
std::int64_t qwen3_vl_token_px(const ProjectorFacts& facts) {
  const std::int64_t side = std::min(facts.integer("patch_size"), kMostPx) * std::min(facts.integer("spatial_merge_size", 2), kMostPx);
  return side * side;
}

Json qwen3_vl_image_processor(const ProjectorFacts& facts) {
  Json pixels = qwen_pixels(facts);
  pixels["image_processor_type"] = "Qwen2VLImageProcessorFast";
  pixels["size"] = {{"shortest_edge", facts.integer("image_min_pixels", 64 * qwen3_vl_token_px(facts))},
                    {"longest_edge", facts.integer("image_max_pixels", 16'384 * qwen3_vl_token_px(facts))}};
  return pixels;
}

Json qwen3_vl_video_processor(const ProjectorFacts& facts) {
  Json pixels = qwen_pixels(facts);
  pixels["video_processor_type"] = "Qwen3VLVideoProcessor";
  pixels["size"] = {{"shortest_edge", 4 * qwen3_vl_token_px(facts)}, {"longest_edge", 24'576 * qwen3_vl_token_px(facts)}};
  return pixels;
}

std::optional<std::string> renamed(std::string_view stored, std::span<const NameRule> rules) {
  const auto found = std::ranges::find(rules, stored, &NameRule::stored);
  if (found == rules.end()) return std::nullopt;
  return std::string(found->canonical);
}

// "v.deepstack.5.fc1" is of the merger behind layer 5, which the folder counts among the mergers.
std::optional<std::string> deepstack_name(const ProjectorFacts& facts, std::string_view part) {
  static constexpr std::array<NameRule, 3> kRules = {{{"norm", "norm"}, {"fc1", "linear_fc1"}, {"fc2", "linear_fc2"}}};
  constexpr std::string_view kPrefix = "v.deepstack.";
  if (!part.starts_with(kPrefix)) return std::nullopt;
  const std::string_view rest = part.substr(kPrefix.size());
  const std::size_t end = rest.find('.');
  std::int64_t layer = -1;
  if (end == std::string_view::npos || std::from_chars(rest.data(), rest.data() + end, layer).ptr != rest.data() + end) return std::nullopt;
  const std::vector<std::int64_t> layers = deepstack_layers(facts);
  const auto found = std::ranges::find(layers, layer);
  const auto name = renamed(rest.substr(end + 1), kRules);
  if (found == layers.end() || !name) return std::nullopt;
  return "visual.deepstack_merger_list." + std::to_string(found - layers.begin()) + "." + *name;
}

constexpr std::array<std::string_view, 2> kQwenMarkers = {"<|image_pad|>", "<|video_pad|>"};

}  // namespace

std::span<const ProjectorKind> projector_kinds() {
  static const std::array<ProjectorKind, 5> kKinds = {{
      {.type = "idefics3",
       .architecture = "llama",
       .class_name = "SmolVLMForConditionalGeneration",
       .model_type = "smolvlm",
       .markers = {"<image>", "<fake_token_around_image>"},
       .whole = kSmolVlm,
       .layer_prefix = "model.vision_model.encoder.layers.",
       .layer = kSiglipLayer,
       .text_prefix = "model.text_model.",
       .config = &smolvlm_config,
       .processor = &smolvlm_processor,
       .image_processor = &smolvlm_image_processor,
       .video_processor = nullptr},
      {.type = "qwen2vl_merger",
       .architecture = "qwen2vl",
       .class_name = "Qwen2VLForConditionalGeneration",
       .model_type = "qwen2_vl",
       .markers = kQwenMarkers,
       .whole = kQwen2Vl,
       .layer_prefix = "visual.blocks.",
       .layer = kQwen2VlLayer,
       .text_prefix = "model.",
       .config = &qwen2_vl_config,
       .processor = nullptr,
       .image_processor = &qwen2_vl_image_processor,
       .video_processor = nullptr},
      {.type = "qwen2.5vl_merger",
       .architecture = "qwen2vl",
       .class_name = "Qwen2_5_VLForConditionalGeneration",
       .model_type = "qwen2_5_vl",
       .markers = kQwenMarkers,
       .whole = kQwen2Vl,
       .layer_prefix = "visual.blocks.",
       .layer = kQwen2_5VlLayer,
       .text_prefix = "model.",
       .config = &qwen2_vl_config,
       .processor = nullptr,
       .image_processor = &qwen2_vl_image_processor,
       .video_processor = nullptr},
      {.type = "qwen3vl_merger",
       .architecture = "qwen3vl",
       .class_name = "Qwen3VLForConditionalGeneration",
       .model_type = "qwen3_vl",
       .markers = kQwenMarkers,
       .whole = kQwen3Vl,
       .layer_prefix = "visual.blocks.",
       .layer = kQwen3VlLayer,
       .text_prefix = "model.",
       .config = &qwen3_vl_config,
       .processor = nullptr,
       .image_processor = &qwen3_vl_image_processor,
       .video_processor = &qwen3_vl_video_processor},
      {.type = "gemma3",
       .architecture = "gemma3",
       .class_name = "Gemma3ForConditionalGeneration",
       .model_type = "gemma3",
       .markers = {"<image_soft_token>", "<start_of_image>"},
       .whole = kGemma3,
       .layer_prefix = "vision_tower.vision_model.encoder.layers.",
       .layer = kSiglipLayer,
       .text_prefix = "model.language_model.",
       .config = &gemma3_config,
       .processor = &gemma3_processor,
       .image_processor = &gemma3_image_processor,
       .video_processor = nullptr},
  }};
  return kKinds;
}

std::optional<std::string> name_in_folder(const ProjectorKind& kind, const ProjectorFacts& facts, const std::string& stored) {
  const std::size_t dot = stored.rfind('.');
  if (dot == std::string::npos) return std::nullopt;
  const std::string_view part = std::string_view(stored).substr(0, dot);
  const std::string ending = part.ends_with(".weight") ? ".weight" : stored.substr(dot);
  // One bias for both frames' kernels.
  if (stored == "v.patch_embd.bias" && kind.whole.data() == kQwen3Vl.data()) return "visual.patch_embed.proj.bias";
  if (part == kGemma3Projection && kind.whole.data() == kGemma3.data()) return "multi_modal_projector.mm_input_projection_weight";
  if (const auto name = renamed(part, kind.whole)) return *name + ending;
  if (const auto name = deepstack_name(facts, part)) return *name + ending;
  constexpr std::string_view kBlock = "v.blk.";
  if (!part.starts_with(kBlock)) return std::nullopt;
  const std::string_view rest = part.substr(kBlock.size());
  const std::size_t end = rest.find('.');
  if (end == std::string_view::npos) return std::nullopt;
  std::string_view product = rest.substr(end + 1);
  if ((product == "ffn_up" || product == "ffn_down") && facts.products_are_swapped()) product = product == "ffn_up" ? "ffn_down" : "ffn_up";
  const auto inside = renamed(product, kind.layer);
  if (!inside) return std::nullopt;
  return std::string(kind.layer_prefix).append(rest.substr(0, end)).append(".").append(*inside) + ending;
}

bool projector_stored_with_one(const std::string& stored) { return stored == std::string(kGemma3Norm) + ".weight"; }

bool ProjectorFacts::has(const char* key) const { return file_->metadata().has(full(key)); }

std::int64_t ProjectorFacts::integer(const char* key) const { return file_->metadata().integer(full(key), 0, kMany); }

std::int64_t ProjectorFacts::integer(const char* key, std::int64_t fallback) const {
  return file_->metadata().integer(full(key), 0, kMany, fallback);
}

double ProjectorFacts::real(const char* key, double fallback) const { return file_->metadata().real(full(key), 0.0, 1.0, fallback); }

std::vector<std::int64_t> ProjectorFacts::integers(const char* key) const { return file_->metadata().integers(full(key)); }

std::vector<float> ProjectorFacts::three_reals(const char* key) const {
  if (file_->metadata().length(full(key)) != 3) file_->metadata().refuse(ErrorCode::kDamagedFile, full(key), "pictures have three colours");
  return file_->metadata().reals(full(key));
}

bool ProjectorFacts::products_are_swapped() const {
  const TensorFile::Tensors& tensors = file_->tensors();
  const auto down = tensors.find("v.blk.0.ffn_down.weight");
  const auto up = tensors.find("v.blk.0.ffn_up.weight");
  const std::int64_t hidden = integer("embedding_length");
  return down != tensors.end() && up != tensors.end() && down->second.shape.size() == 2 && down->second.shape[1] == hidden &&
         up->second.shape.size() == 2 && up->second.shape[0] == hidden && up->second.shape[1] != hidden;
}

std::int64_t ProjectorFacts::inner_size() const {
  const StoredTensor& first = file_->tensor(products_are_swapped() ? "v.blk.0.ffn_down.weight" : "v.blk.0.ffn_up.weight");
  if (first.shape.size() != 2) throw Exception(ErrorCode::kDamagedFile, file_->path() + ": v.blk.0.ffn_up.weight", "it is no matrix");
  return first.shape[0];
}

}  // namespace winnow
