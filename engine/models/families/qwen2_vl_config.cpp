#include "engine/models/families/qwen2_vl_config.h"

#include <string_view>

#include "engine/base/error.h"
#include "engine/models/config/config_fields.h"
#include "engine/models/config/rotary_config.h"

namespace winnow {
namespace {

constexpr std::string_view kQwen2 = "qwen2_vl";
constexpr std::string_view kQwen25 = "qwen2_5_vl";
constexpr std::int64_t kQwen2VlDefaultImageToken = 151'655;
constexpr std::int64_t kQwen2VlDefaultVideoToken = 151'656;
constexpr std::int64_t kMaxWindowPx = 16'384;
constexpr std::int64_t kMaxPositionsASecond = 1000;

DecoderConfig qwen2_vl_parse_text(const JsonObject& root, std::string_view type) {
  const std::optional<JsonObject> nested = root.optional_object("text_config");
  const JsonObject& text = nested ? *nested : root;
  DecoderConfig config = parse_decoder_config(text, type);
  if (config.head_dim * config.heads != config.hidden_size)
    text.refuse(ErrorCode::kDamagedFile, "head_dim", "heads times head_dim must be hidden_size");
  config.rotary.frequency_axis = read_rotary_sections(text, config.head_dim);
  config.tie_word_embeddings = config.tie_word_embeddings || root.boolean("tie_word_embeddings", false);
  return config;
}

WindowConfig qwen2_vl_read_windows(const JsonObject& vision, const QwenVisionConfig& config) {
  WindowConfig windows{.side_cells = vision.integer("window_size", 1, kMaxWindowPx, 112) / config.patches.merge / config.patches.patch_px};
  if (windows.side_cells < 1) vision.refuse(ErrorCode::kDamagedFile, "window_size", "a window holds less than one token");
  windows.whole_layers = {7, 15, 23, 31};
  if (vision.has("fullatt_block_indexes"))
    windows.whole_layers = vision.integers("fullatt_block_indexes", 0, kMaxLayers - 1, static_cast<std::size_t>(kMaxLayers));
  return windows;
}

QwenVisionConfig parse_vision(const JsonObject& vision, std::string_view type) {
  require_vision_type(vision, type);
  if (type == kQwen25) {
    QwenVisionConfig config = read_qwen_vision(vision, {});
    config.intermediate_size = vision.integer("intermediate_size", 1, kMaxIntermediate);
    config.windows = qwen2_vl_read_windows(vision, config);
    return config;
  }
  QwenVisionConfig config = read_qwen_vision(vision, {"embed_dim", "hidden_size", "quick_gelu"});
  const double ratio = vision.real("mlp_ratio", 0.0, 64.0, 4.0);
  config.intermediate_size = static_cast<std::int64_t>(static_cast<double>(config.hidden_size) * ratio);
  if (config.intermediate_size < 1 || config.intermediate_size > kMaxIntermediate)
    vision.refuse(ErrorCode::kDamagedFile, "mlp_ratio", "it makes a block of " + std::to_string(config.intermediate_size) + " features");
  return config;
}

}  // namespace

Qwen2VlConfig parse_qwen2_vl_config(const Json& document, const std::string& file) {
  const JsonObject root(document, file);
  const std::string type = root.string("model_type", kMaxNameBytes);
  if (type != kQwen2 && type != kQwen25) unsupported(root, "model_type", quoted_name(type) + " is not a model that this program runs");
  Qwen2VlConfig config{.text = qwen2_vl_parse_text(root, type)};
  const JsonObject vision = root.object("vision_config");
  config.vision = parse_vision(vision, type);
  if (config.vision.out_size != config.text.hidden_size) {
    vision.refuse(ErrorCode::kDamagedFile, type == kQwen25 ? "out_hidden_size" : "hidden_size",
                  "the decoder's hidden size is " + std::to_string(config.text.hidden_size));
  }
  if (type == kQwen25) config.positions_a_second = vision.integer("tokens_per_second", 0, kMaxPositionsASecond, 4);
  config.image_token_id = read_media_token(root, {"image_token_id"}, kQwen2VlDefaultImageToken, config.text.vocabulary);
  config.video_token_id = read_media_token(root, {"video_token_id"}, kQwen2VlDefaultVideoToken, config.text.vocabulary);
  if (config.image_token_id == config.video_token_id)
    root.refuse(ErrorCode::kDamagedFile, "video_token_id", "images and videos have the same token");
  return config;
}

Qwen2VlFolder read_qwen2_vl(const ModelPackage& package) {
  const ModelDocument& config = package.required(ModelPart::kConfig);
  Qwen2VlFolder read{.model = parse_qwen2_vl_config(config.content, config.subject)};
  QwenVlProcessors defaults{.video = {.min_pixels = std::int64_t{128} * 28 * 28, .max_pixels = std::int64_t{768} * 28 * 28}};
  read.processors = read_patch_processors(package, read.model.vision.patches, defaults);
  return read;
}

}  // namespace winnow
