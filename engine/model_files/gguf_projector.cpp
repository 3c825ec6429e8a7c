#include "engine/model_files/gguf_projector.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "engine/base/error.h"

namespace winnow {
namespace {

constexpr std::int64_t kMany = std::int64_t{1} << 40;  // the families have the real limits
constexpr const char* kType = "clip.projector_type";
constexpr const char* kVisionType = "clip.vision.projector_type";

struct NameRule {
  std::string_view stored;
  std::string_view canonical;
};

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

// The kernel that joins two frames is stored as one for each of them.
constexpr std::array<NameRule, 5> kQwen2Vl = {{
    {"v.patch_embd", "visual.patch_embed.proj.0"},
    {"v.patch_embd.weight", "visual.patch_embed.proj.1"},  // "v.patch_embd.weight.1"
    {"v.post_ln", "visual.merger.ln_q"},
    {"mm.0", "visual.merger.mlp.0"},
    {"mm.2", "visual.merger.mlp.2"},
}};

std::optional<std::string> renamed(std::string_view stored, std::span<const NameRule> rules) {
  const auto found = std::ranges::find(rules, stored, &NameRule::stored);
  if (found == rules.end()) return std::nullopt;
  return std::string(found->canonical);
}

std::int64_t token_id(const std::vector<std::string>& tokens, std::string_view token) {
  return std::ranges::find(tokens, token) - tokens.begin();
}

}  // namespace

// A projector, and the family that is it and a text model together.
struct GgufProjector::Kind {
  const char* type;          // clip.projector_type
  const char* architecture;  // of the text model
  const char* class_name;    // config.json: architectures[0]
  const char* model_type;
  std::array<std::string_view, 2> markers;  // tokens that its prompts have
  std::span<const NameRule> whole;
  std::string_view layer_prefix;
  std::span<const NameRule> layer;
  std::string_view text_prefix;  // in place of "model."
  Json (GgufProjector::*config)(const Json&, const std::vector<std::string>&) const;
  Json (GgufProjector::*processor)() const;  // null: the family has none
  Json (GgufProjector::*image_processor)() const;

  static std::span<const Kind> all() {
    static const std::array<Kind, 3> kKinds = {{
        {"idefics3",
         "llama",
         "SmolVLMForConditionalGeneration",
         "smolvlm",
         {"<image>", "<fake_token_around_image>"},
         kSmolVlm,
         "model.vision_model.encoder.layers.",
         kSiglipLayer,
         "model.text_model.",
         &GgufProjector::smolvlm_config,
         &GgufProjector::smolvlm_processor,
         &GgufProjector::smolvlm_image_processor},
        {"qwen2vl_merger",
         "qwen2vl",
         "Qwen2VLForConditionalGeneration",
         "qwen2_vl",
         {"<|image_pad|>", "<|video_pad|>"},
         kQwen2Vl,
         "visual.blocks.",
         kQwen2VlLayer,
         "model.",
         &GgufProjector::qwen2_vl_config,
         nullptr,
         &GgufProjector::qwen2_vl_image_processor},
        {"qwen2.5vl_merger",
         "qwen2vl",
         "Qwen2_5_VLForConditionalGeneration",
         "qwen2_5_vl",
         {"<|image_pad|>", "<|video_pad|>"},
         kQwen2Vl,
         "visual.blocks.",
         kQwen2_5VlLayer,
         "model.",
         &GgufProjector::qwen2_vl_config,
         nullptr,
         &GgufProjector::qwen2_vl_image_processor},
    }};
    return kKinds;
  }
};

namespace {

class ProjectorTensors final : public TensorFile {
 public:
  ProjectorTensors(std::shared_ptr<const GgufFile> file, Tensors tensors) : file_(std::move(file)) { tensors_ = std::move(tensors); }

  const std::string& path() const noexcept override { return file_->path(); }
  void read(const StoredTensor& tensor, std::uint64_t offset, std::span<std::byte> target) const override {
    file_->read(tensor, offset, target);
  }
  std::span<const std::byte> view(const StoredTensor& tensor) const override { return file_->view(tensor); }

 private:
  std::shared_ptr<const GgufFile> file_;
};

// Early converters named the two products of a block the wrong way round; their shapes tell.
bool products_are_swapped(const TensorFile& file, std::int64_t hidden) {
  const auto down = file.tensors().find("v.blk.0.ffn_down.weight");
  const auto up = file.tensors().find("v.blk.0.ffn_up.weight");
  return down != file.tensors().end() && up != file.tensors().end() && down->second.shape.size() == 2 && down->second.shape[1] == hidden &&
         up->second.shape.size() == 2 && up->second.shape[0] == hidden && up->second.shape[1] != hidden;
}

}  // namespace

GgufProjector::GgufProjector(const std::string& path) : file_(std::make_shared<const GgufFile>(path)) {
  const GgufMetadata& from = metadata();
  if (from.string("general.architecture", "") != "clip")
    from.refuse(ErrorCode::kUnsupportedModel, "general.architecture", "this is not the file of a model's eyes (mmproj)");
  const char* const key = from.has(kType) ? kType : kVisionType;
  const std::string type = from.string(key);
  const auto found = std::ranges::find_if(Kind::all(), [&](const Kind& each) { return type == each.type; });
  if (found == Kind::all().end()) {
    std::string known;
    for (const Kind& each : Kind::all()) known.append(known.empty() ? "" : ", ").append(each.type);
    from.refuse(
        ErrorCode::kUnsupportedModel, key,
        "the engine does not run the projector " + (type.size() <= 64 ? "\"" + type + "\"" : "of this file") + "; it runs " + known);
  }
  kind_ = &*found;
}

std::optional<std::string> GgufProjector::misfit(const GgufTextModel& text) const {
  if (text.architecture != kind_->architecture)
    return "its projector \"" + std::string(kind_->type) + "\" belongs to a text model of the architecture " + kind_->architecture;
  if (const std::int64_t width = integer("projection_dim"); width != text.hidden_size) {
    return "it makes tokens of " + std::to_string(width) + " features, and the text model's have " + std::to_string(text.hidden_size);
  }
  for (const std::string_view marker : kind_->markers) {
    if (std::ranges::find(text.tokens, marker) == text.tokens.end())
      return "the text model's vocabulary lacks " + std::string(marker) + ", which stands for a picture";
  }
  return std::nullopt;
}

std::int64_t GgufProjector::integer(const char* key) const { return metadata().integer(std::string("clip.vision.") + key, 0, kMany); }

std::int64_t GgufProjector::integer(const char* key, std::int64_t fallback) const {
  return metadata().integer(std::string("clip.vision.") + key, 0, kMany, fallback);
}

std::vector<float> GgufProjector::three_reals(const char* key) const {
  const std::string name = std::string("clip.vision.") + key;
  if (metadata().length(name) != 3) metadata().refuse(ErrorCode::kDamagedFile, name, "pictures have three colours");
  return metadata().reals(name);
}

Json GgufProjector::config(const Json& text, const std::vector<std::string>& tokens) const {
  Json config = (this->*kind_->config)(text, tokens);
  config["architectures"] = {kind_->class_name};
  config["model_type"] = kind_->model_type;
  config["tie_word_embeddings"] = text.at("tie_word_embeddings");
  return config;
}

Json GgufProjector::smolvlm_config(const Json& text, const std::vector<std::string>& tokens) const {
  return {{"text_config", text},
          {"image_token_id", token_id(tokens, kind_->markers[0])},
          {"scale_factor", integer("projector.scale_factor", 2)},
          {"vision_config",
           {{"hidden_size", integer("embedding_length")},
            {"intermediate_size", integer("feed_forward_length")},
            {"num_hidden_layers", integer("block_count")},
            {"num_attention_heads", integer("attention.head_count")},
            {"image_size", integer("image_size")},
            {"patch_size", integer("patch_size")},
            {"layer_norm_eps", metadata().real("clip.vision.attention.layer_norm_epsilon", 0.0, 1.0, 1e-6)}}}};
}

Json GgufProjector::qwen2_vl_config(const Json& text, const std::vector<std::string>& tokens) const {
  Json config = text;
  config["image_token_id"] = token_id(tokens, kind_->markers[0]);
  config["video_token_id"] = token_id(tokens, kind_->markers[1]);
  const std::int64_t hidden = integer("embedding_length");
  Json vision = {{"model_type", kind_->model_type},
                 {"depth", integer("block_count")},
                 {"num_heads", integer("attention.head_count")},
                 {"patch_size", integer("patch_size")},
                 {"spatial_merge_size", integer("spatial_merge_size", 2)},
                 {"temporal_patch_size", 2}};
  if (const std::int64_t pattern = integer("n_wa_pattern", 0); pattern > 0) {
    std::vector<std::int64_t> whole;
    for (std::int64_t layer = pattern - 1; layer < std::min(integer("block_count"), std::int64_t{1024}); layer += pattern)
      whole.push_back(layer);
    vision["fullatt_block_indexes"] = whole;
    vision["window_size"] = integer("window_size", 112);
    vision["tokens_per_second"] = 2;
    vision["hidden_size"] = hidden;
    vision["out_hidden_size"] = text.at("hidden_size");
    vision["intermediate_size"] = inner_size();
  } else {
    vision["embed_dim"] = hidden;
    vision["hidden_size"] = text.at("hidden_size");
    vision["mlp_ratio"] = hidden > 0 ? static_cast<double>(inner_size()) / static_cast<double>(hidden) : 0.0;
  }
  config["vision_config"] = vision;
  return config;
}

// Of a block's first product: metadata of early converters say nothing of it, or the text model's width.
std::int64_t GgufProjector::inner_size() const {
  const bool swapped = products_are_swapped(*file_, integer("embedding_length"));
  const StoredTensor& first = file_->tensor(swapped ? "v.blk.0.ffn_down.weight" : "v.blk.0.ffn_up.weight");
  if (first.shape.size() != 2) throw Exception(ErrorCode::kDamagedFile, path() + ": v.blk.0.ffn_up.weight", "it is no matrix");
  return first.shape[0];
}

Json GgufProjector::processor() const { return kind_->processor == nullptr ? Json() : (this->*kind_->processor)(); }

Json GgufProjector::image_processor() const {
  Json pixels = (this->*kind_->image_processor)();
  pixels["image_mean"] = three_reals("image_mean");
  pixels["image_std"] = three_reals("image_std");
  return pixels;
}

Json GgufProjector::smolvlm_processor() const {
  const std::int64_t cell = integer("patch_size") * integer("projector.scale_factor", 2);
  const std::int64_t side = cell > 0 ? std::min(integer("image_size") / cell, std::int64_t{1} << 20) : 0;
  return {{"image_seq_len", side * side}};
}

Json GgufProjector::smolvlm_image_processor() const {
  // Without a size to be split from, a picture is one tile.
  const std::int64_t tile = integer("image_size");
  return {{"image_processor_type", "SmolVLMImageProcessor"},
          {"size", {{"longest_edge", integer("preproc_image_size", tile)}}},
          {"max_image_size", {{"longest_edge", tile}}},
          {"do_image_splitting", metadata().has("clip.vision.preproc_image_size")}};
}

Json GgufProjector::qwen2_vl_image_processor() const {
  return {{"image_processor_type", "Qwen2VLImageProcessor"}, {"patch_size", integer("patch_size")},
          {"merge_size", integer("spatial_merge_size", 2)},  {"temporal_patch_size", 2},
          {"min_pixels", integer("image_min_pixels", 3136)}, {"max_pixels", integer("image_max_pixels", 12'845'056)}};
}

std::shared_ptr<const TensorFile> GgufProjector::tensors() const {
  const bool swapped = products_are_swapped(*file_, integer("embedding_length"));
  TensorFile::Tensors named;
  for (const auto& [stored, tensor] : file_->tensors()) {
    const std::size_t dot = stored.rfind('.');
    if (dot == std::string::npos) continue;
    const std::string_view part = std::string_view(stored).substr(0, dot);
    const std::string ending = part.ends_with(".weight") ? ".weight" : stored.substr(dot);
    std::optional<std::string> name = renamed(part, kind_->whole);
    constexpr std::string_view kBlock = "v.blk.";
    if (!name && part.starts_with(kBlock)) {
      const std::string_view rest = part.substr(kBlock.size());
      const std::size_t end = rest.find('.');
      if (end == std::string_view::npos) continue;
      std::string_view product = rest.substr(end + 1);
      if (swapped && (product == "ffn_up" || product == "ffn_down")) product = product == "ffn_up" ? "ffn_down" : "ffn_up";
      if (auto inside = renamed(product, kind_->layer))
        name = std::string(kind_->layer_prefix).append(rest.substr(0, end)).append(".").append(*inside);
    }
    if (name) named.emplace(*name + ending, tensor);
  }
  return std::make_shared<const ProjectorTensors>(file_, std::move(named));
}

std::string GgufProjector::name_in_family(const std::string& text_name) const {
  constexpr std::string_view kModel = "model.";
  if (!text_name.starts_with(kModel)) return text_name;
  return std::string(kind_->text_prefix) + text_name.substr(kModel.size());
}

}  // namespace winnow
