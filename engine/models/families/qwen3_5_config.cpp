#include "engine/models/families/qwen3_5_config.h"

#include <string_view>

#include "engine/model_files/family_templates.h"
#include "engine/models/config/config_fields.h"
#include "engine/models/config/rotary_config.h"

namespace winnow {
namespace {

constexpr std::string_view kDenseType = "qwen3_5";
constexpr std::string_view kExpertType = "qwen3_5_moe";

DecoderConfig parse_hybrid_text(const JsonObject& root, const std::string& type) {
  const JsonObject text = root.object("text_config");
  require_model_type(text, type + "_text", true);
  DecoderConfig config = parse_decoder_config(text, type + "_text");
  config.rotary.frequency_axis = read_alternating_sections(text, rotated_elements(config.rotary, config.head_dim));
  config.tie_word_embeddings = config.tie_word_embeddings || root.boolean("tie_word_embeddings", false);
  return config;
}

}  // namespace

Qwen3VlConfig parse_qwen3_5_config(const Json& document, const std::string& file) {
  const JsonObject root(document, file);
  const std::string type = root.string("model_type", kMaxNameBytes);
  if (type != kDenseType && type != kExpertType)
    unsupported(root, "model_type", quoted_name(type) + " is not a model that this program runs");
  Qwen3VlConfig config{.text = parse_hybrid_text(root, type)};
  const JsonObject vision = root.object("vision_config");
  require_vision_type(vision, type);
  config.vision = read_qwen3_vision(vision, config.text.hidden_size);
  config.vision.deepstack = read_position_table(vision);
  const char* const levels = "deepstack_visual_indexes";
  if (vision.has(levels) && !vision.integers(levels, 0, kMaxLayers, static_cast<std::size_t>(kMaxLayers)).empty())
    unsupported(vision, levels, "this model's pictures have no features of earlier layers");
  config.tokens = read_qwen3_tokens(root, {248'056, 248'057, 248'053, 248'054}, config.text.vocabulary);
  return config;
}

Qwen3VlFolder read_qwen3_5(const ModelPackage& package) {
  const ModelDocument& config = package.required(ModelPart::kConfig);
  Qwen3VlFolder read;
  read.model = parse_qwen3_5_config(config.content, config.subject);
  read.processors = read_qwen3_processors(package, read.model.vision);
  read.chat_template = family_template("qwen3_5");
  return read;
}

}  // namespace winnow
