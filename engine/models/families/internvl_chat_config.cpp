#include "engine/models/families/internvl_chat_config.h"

#include <algorithm>
#include <array>

#include "engine/base/error.h"
#include "engine/models/config/config_fields.h"

namespace winnow {
namespace {

constexpr std::int64_t kMostPicturePx = 4096;
constexpr PixelScaling kImageNet = {.mean = {0.485, 0.456, 0.406}, .standard_deviation = {0.229, 0.224, 0.225}};

constexpr std::array<WeightNameRule, 6> kInternvlChatNameRules = {{
    {"language_model.output.", "text.lm_head."},  // InternLM2's
    {"language_model.", "text."},
    {"vision_model.", "tower."},
    {"mlp1.0.", "projector.norm."},
    {"mlp1.1.", "projector.first."},
    {"mlp1.3.", "projector.second."},
}};

struct LanguageModel {
  const char* architecture;
  const char* model_type;
};

constexpr std::array<LanguageModel, 5> kLanguageModels = {{
    {"InternLM2ForCausalLM", "internlm2"},
    {"LlamaForCausalLM", "llama"},
    {"Qwen2ForCausalLM", "qwen2"},
    {"Qwen3ForCausalLM", "qwen3"},
    {"Qwen3MoeForCausalLM", "qwen3_moe"},
}};

DecoderNames internlm2_names() {
  return {.embedding = "model.tok_embeddings",
          .input_norm = "attention_norm",
          .query_key_value = "attention.wqkv",
          .output = "attention.wo",
          .mlp_norm = "ffn_norm",
          .gate = "feed_forward.w1",
          .up = "feed_forward.w3",
          .down = "feed_forward.w2"};
}

DecoderConfig read_language_model(const JsonObject& llm) {
  const std::vector<std::string> architectures = llm.strings("architectures", kMaxNameBytes, 8);
  const std::string name = architectures.empty() ? "" : architectures.front();
  const auto* const known = std::ranges::find(kLanguageModels, name, &LanguageModel::architecture);
  if (known == kLanguageModels.end())
    unsupported(llm, "architectures", quoted_name(name) + " is not a language model that this program runs in an InternVL");
  require_model_type(llm, known->model_type, true);
  DecoderConfig config = parse_decoder_config(llm, known->model_type);
  if (name == "InternLM2ForCausalLM") config.names = internlm2_names();
  return config;
}

VitNames internvl_chat_tower_names(bool query_key_norm) {
  VitNames names{.positions = "embeddings.position_embedding", .attention_norm = "norm1", .query_key_value = "attn.qkv"};
  if (query_key_norm) {
    names.query_norm = "attn.q_norm";
    names.key_norm = "attn.k_norm";
  }
  names.output = "attn.proj";
  names.attention_scale = "ls1";
  names.mlp_norm = "norm2";
  names.mlp_scale = "ls2";
  return names;
}

// InternVisionConfig's, which is InternViT-6B.
Json internvl_chat_vision_defaults() {
  return {{"hidden_size", 3200},       {"intermediate_size", 12'800}, {"num_hidden_layers", 48},
          {"num_attention_heads", 25}, {"image_size", 224},           {"patch_size", 14}};
}

VitConfig internvl_chat_read_tower(const JsonObject& root, const std::string& file) {
  Json document = completed_object(root, "vision_config", internvl_chat_vision_defaults());
  document.erase("model_type");  // "intern_vit_6b", whatever its size
  const JsonObject vision(document, file, "vision_config");
  VitConfig tower = parse_vit_config(vision, "internvl_vision");
  tower.rms_norms = read_rms_norms(vision, "rms_norm");
  tower.attention_bias = vision.boolean("qkv_bias", false);
  tower.query_key_norm_eps = tower.layer_norm_eps;
  tower.batched_tables = true;
  tower.names = internvl_chat_tower_names(vision.boolean("qk_normalization", true));
  return tower;
}

TileBounds internvl_chat_read_tiles(const JsonObject& root, std::int64_t side_px) {
  TileBounds tiles;
  tiles.side_px = side_px;
  tiles.thumbnail = root.boolean("use_thumbnail", false);
  tiles.least = root.integer("min_dynamic_patch", 1, kMostTilesOfAnImage, 1);
  tiles.most = root.integer("max_dynamic_patch", 1, kMostTilesOfAnImage, 6);
  if (tiles.least > tiles.most) root.refuse(ErrorCode::kDamagedFile, "min_dynamic_patch", "it is over max_dynamic_patch");
  require_tiles_fit(root, "max_dynamic_patch", tiles);
  if (!root.boolean("dynamic_image_size", false)) tiles.least = tiles.most = 1;
  return tiles;
}

void refuse_what_is_missing(const JsonObject& root) {
  const std::string shuffle = root.string("ps_version", kMaxNameBytes, "v1");
  if (shuffle != "v2") unsupported(root, "ps_version", quoted_name(shuffle) + ": only v2, which leaves pictures upright, is implemented");
  if (root.boolean("pad2square", false)) unsupported(root, "pad2square", "pictures padded to a square are not implemented");
  for (const char* key : {"use_backbone_lora", "use_llm_lora"}) {
    if (root.integer(key, 0, 1'000'000, 0) != 0) unsupported(root, key, "weights with an adapter beside them are not implemented");
  }
}

struct Conversation {
  std::string_view name;
  std::string_view system;
  std::string_view separator;  // after every turn
};

constexpr std::string_view kSenseTime =
    "你是由上海人工智能实验室联合商汤科技开发的书生多模态大模型，英文名叫InternVL, 是一个有用无害的人工智能助手。";
constexpr std::string_view kWanxiang =
    "你是书生·万象，英文名是InternVL，是由上海人工智能实验室、清华大学及多家合作单位联合开发的多模态大语言模型。";

constexpr std::array<Conversation, 3> kConversations = {{
    {"internvl2_5", kWanxiang, "<|im_end|>\\n"},
    {"internlm2-chat", kSenseTime, "<|im_end|>"},
    {"Hermes-2", kSenseTime, "<|im_end|>"},
}};

}  // namespace

InternVlFolder parse_internvl_chat_config(const Json& document, const std::string& file) {
  const JsonObject root(document, file);
  require_model_type(root, "internvl_chat", true);
  refuse_what_is_missing(root);
  InternVlFolder folder;
  InternVlConfig& config = folder.model;
  config.text = read_language_model(root.object("llm_config"));
  config.vision = internvl_chat_read_tower(root, file);
  config.scale = read_downsampling(root);
  config.feature_state = read_feature_state(root, "select_layer", config.vision.layers);
  const std::string conversation = root.string("template", kMaxNameBytes);
  folder.own_template = internvl_chat_template(conversation);
  if (folder.own_template.empty())
    unsupported(root, "template", quoted_name(conversation) + " is not a conversation that this program writes");
  const std::int64_t side_px = root.integer("force_image_size", 1, kMostPicturePx, config.vision.image_size_px);
  folder.pixels.tiles = internvl_chat_read_tiles(root, side_px);
  folder.pixels.image.size = {side_px, side_px};
  folder.pixels.image.scaling = kImageNet;
  folder.pixels.image.arithmetic = ResizeArithmetic::kPillow;
  folder.pixels.video = folder.pixels.image;
  folder.names = kInternvlChatNameRules;
  place_pictures(config, side_px, root.subject("force_image_size"));
  return folder;
}

InternVlFolder read_internvl_chat(const ModelPackage& package) {
  const ModelDocument& config = package.required(ModelPart::kConfig);
  return parse_internvl_chat_config(config.content, config.subject);
}

std::string internvl_chat_template(std::string_view name) {
  const auto* const found = std::ranges::find(kConversations, name, &Conversation::name);
  if (found == kConversations.end()) return {};
  const std::string end = "{{ '" + std::string(found->separator) + "' }}";
  std::string text = "{% for message in messages %}{% if loop.first and message['role'] != 'system' %}{{ '<|im_start|>system\\n";
  text.append(found->system).append("' }}").append(end);
  text +=
      "{% endif %}{{ '<|im_start|>' + message['role'] + '\\n' }}{% if message['content'] is string %}{{ message['content'] }}"
      "{% else %}{% for content in message['content'] %}{% if content['type'] == 'image' %}{{ '<IMG_CONTEXT>\\n' }}"
      "{% elif content['type'] == 'video' %}{{ '<video>\\n' }}{% elif content['type'] == 'text' %}{{ content['text'] }}{% endif %}"
      "{% endfor %}{% endif %}";
  text.append(end).append("{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}");
  return text;
}

}  // namespace winnow
