#include "engine/models/qwen2_vl/qwen2_vl_config.h"

#include <string_view>

#include "engine/base/error.h"
#include "engine/models/config_fields.h"
#include "engine/models/rotary_config.h"

namespace winnow {
namespace {

constexpr std::string_view kQwen2 = "qwen2_vl";
constexpr std::string_view kQwen2_5 = "qwen2_5_vl";
constexpr std::int64_t kDefaultImageToken = 151'655;
constexpr std::int64_t kDefaultVideoToken = 151'656;
constexpr std::int64_t kMaxWindowPx = 16'384;
constexpr std::int64_t kMaxPositionsASecond = 1000;

DecoderConfig parse_text(const JsonObject& root, std::string_view type) {
  const std::optional<JsonObject> nested = root.optional_object("text_config");
  const JsonObject& text = nested ? *nested : root;
  DecoderConfig config = parse_decoder_config(text, type);
  if (config.head_dim * config.heads != config.hidden_size)
    text.refuse(ErrorCode::kDamagedFile, "head_dim", "heads times head_dim must be hidden_size");
  config.rotary.frequency_axis = read_rotary_sections(text, config.head_dim);
  config.tie_word_embeddings = config.tie_word_embeddings || root.boolean("tie_word_embeddings", false);
  return config;
}

WindowConfig read_windows(const JsonObject& vision, const Qwen2VisionConfig& config) {
  WindowConfig windows;
  windows.side_cells = vision.integer("window_size", 1, kMaxWindowPx, 112) / config.patches.merge / config.patches.patch_px;
  if (windows.side_cells < 1) vision.refuse(ErrorCode::kDamagedFile, "window_size", "a window holds less than one token");
  windows.whole_layers = {7, 15, 23, 31};
  if (vision.has("fullatt_block_indexes"))
    windows.whole_layers = vision.integers("fullatt_block_indexes", 0, kMaxLayers - 1, static_cast<std::size_t>(kMaxLayers));
  return windows;
}

Qwen2VisionConfig parse_vision(const JsonObject& vision, std::string_view type) {
  require_model_type(vision, type, true);
  const bool windowed = type == kQwen2_5;
  Qwen2VisionConfig config;
  config.layers = vision.integer("depth", 1, kMaxLayers);
  config.heads = vision.integer("num_heads", 1, kMaxHeads);
  const char* const width = windowed ? "hidden_size" : "embed_dim";
  config.hidden_size = vision.integer(width, 1, kMaxHidden);
  config.out_size = vision.integer(windowed ? "out_hidden_size" : "hidden_size", 1, kMaxHidden);
  if (windowed) {
    config.intermediate_size = vision.integer("intermediate_size", 1, kMaxIntermediate);
  } else {
    const double ratio = vision.real("mlp_ratio", 0.0, 64.0, 4.0);
    config.intermediate_size = static_cast<std::int64_t>(static_cast<double>(config.hidden_size) * ratio);
    if (config.intermediate_size < 1 || config.intermediate_size > kMaxIntermediate)
      vision.refuse(ErrorCode::kDamagedFile, "mlp_ratio", "it makes a block of " + std::to_string(config.intermediate_size) + " features");
  }
  if (config.hidden_size % (4 * config.heads) != 0) {
    vision.refuse(ErrorCode::kDamagedFile, "num_heads",
                  std::string(width) + " " + std::to_string(config.hidden_size) + " makes no heads of a multiple of four channels");
  }
  config.head_dim = config.hidden_size / config.heads;
  if (vision.integer("in_channels", 1, 16, 3) != 3) unsupported(vision, "in_channels", "pictures have three colours");
  config.patches.patch_px = vision.integer("patch_size", 1, kMaxPatchPx);
  config.patches.merge = vision.integer("spatial_merge_size", 1, kMaxMerge);
  config.patches.joined_frames = vision.integer("temporal_patch_size", 1, kMaxJoinedFrames);
  config.activation = read_activation(vision, "hidden_act", windowed ? "silu" : "quick_gelu");
  if (windowed) config.windows = read_windows(vision, config);
  return config;
}

}  // namespace

Qwen2VlConfig parse_qwen2_vl_config(const Json& document, const std::string& file) {
  const JsonObject root(document, file);
  const std::string type = root.string("model_type", kMaxNameBytes);
  if (type != kQwen2 && type != kQwen2_5) unsupported(root, "model_type", quoted_name(type) + " is not a model that this program runs");
  Qwen2VlConfig config;
  config.text = parse_text(root, type);
  const JsonObject vision = root.object("vision_config");
  config.vision = parse_vision(vision, type);
  if (config.vision.out_size != config.text.hidden_size) {
    vision.refuse(ErrorCode::kDamagedFile, type == kQwen2_5 ? "out_hidden_size" : "hidden_size",
                  "the decoder's hidden size is " + std::to_string(config.text.hidden_size));
  }
  if (type == kQwen2_5) config.positions_a_second = vision.integer("tokens_per_second", 0, kMaxPositionsASecond, 4);
  config.image_token_id = read_media_token(root, {"image_token_id"}, kDefaultImageToken, config.text.vocabulary);
  config.video_token_id = read_media_token(root, {"video_token_id"}, kDefaultVideoToken, config.text.vocabulary);
  if (config.image_token_id == config.video_token_id)
    root.refuse(ErrorCode::kDamagedFile, "video_token_id", "images and videos have the same token");
  return config;
}

Qwen2VlFolder read_qwen2_vl(const ModelPackage& package) {
  const ModelDocument& config = package.required(ModelPart::kConfig);
  Qwen2VlFolder read;
  read.model = parse_qwen2_vl_config(config.content, config.subject);
  read.processors = read_patch_processors(package, read.model.vision.patches);
  return read;
}

}  // namespace winnow
