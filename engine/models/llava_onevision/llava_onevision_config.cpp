#include "engine/models/llava_onevision/llava_onevision_config.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include "engine/base/error.h"
#include "engine/models/config_fields.h"

namespace winnow {
namespace {

constexpr std::int64_t kDefaultImageToken = 151'646;
constexpr std::int64_t kDefaultVideoToken = 151'647;

std::int64_t read_max_tiles(const JsonObject& root) {
  constexpr std::string_view kPrefix = "anyres_max_";
  const std::string ratio = root.string("vision_aspect_ratio", kMaxNameBytes, "anyres_max_9");
  std::int64_t tiles = 0;
  const std::string_view digits = ratio.starts_with(kPrefix) ? std::string_view(ratio).substr(kPrefix.size()) : std::string_view();
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), tiles);
  if (digits.empty() || parsed.ec != std::errc() || parsed.ptr != digits.data() + digits.size() || tiles < 1 || tiles > 1024) {
    unsupported(root, "vision_aspect_ratio", quoted_name(ratio) + " is not anyres_max_N with N from 1 to 1024");
  }
  return tiles;
}

void check_agreement(const LlavaOnevisionFolder& folder, const ModelPackage& package) {
  const LlavaOnevisionConfig& model = folder.model;
  const ProcessorConfig& processor = folder.processor;
  const std::string preparation = package.subject(ModelPart::kImageProcessor);
  const std::string combined = package.subject(ModelPart::kProcessor);
  const PixelSize side{model.vision.image_size_px, model.vision.image_size_px};
  require_agreement(processor.image.size == side, preparation, "size", "it differs from the vision tower's image_size");
  require_agreement(processor.video.size == side, package.subject(ModelPart::kVideoProcessor), "size",
                    "it differs from the vision tower's image_size");
  require_agreement(processor.image.grid_pinpoints == model.grid.pinpoints, preparation, "image_grid_pinpoints",
                    "it differs from config.json");
  const std::int64_t patches = model.vision.patches();
  require_agreement(processor.image_tokens.value_or(patches) == patches, combined, "num_image_tokens",
                    "it differs from the number of patches");
  const char* strategy = name_of(model.select_strategy);
  require_agreement(processor.feature_select_strategy.value_or(strategy) == strategy, combined, "vision_feature_select_strategy",
                    "it differs from config.json");
  const std::string ratio = "anyres_max_" + std::to_string(model.grid.max_tiles.value());
  require_agreement(processor.aspect_ratio.value_or(ratio) == ratio, combined, "vision_aspect_ratio", "it differs from config.json");
}

}  // namespace

LlavaOnevisionConfig parse_llava_onevision_config(const Json& document, const std::string& file) {
  const JsonObject root(document, file);
  require_model_type(root, "llava_onevision", false);
  LlavaOnevisionConfig config;
  config.text = parse_decoder_config(root.object("text_config"), "qwen2");
  const JsonObject vision = root.object("vision_config");
  require_model_type(vision, "siglip_vision_model", true);
  static_cast<LlavaVisionConfig&>(config) = read_llava_vision(root, vision, {"siglip_vision_model", -1, "full"});
  config.text.tie_word_embeddings = config.text.tie_word_embeddings || root.boolean("tie_word_embeddings", false);
  config.grid.pinpoints = root.has("image_grid_pinpoints") ? read_grid_pinpoints(root, "image_grid_pinpoints") : default_grid_pinpoints();
  config.grid.side_px = config.vision.image_size_px;
  config.grid.patches_per_side = config.vision.patches_per_side;
  config.grid.max_tiles = read_max_tiles(root);
  config.grid.drop_first_feature = config.drops_first();
  config.video = read_video_rules(root, config.vision.patches_per_side);
  config.image_token_id = read_media_token(root, {"image_token_index", "image_token_id"}, kDefaultImageToken, config.text.vocabulary);
  config.video_token_id = read_media_token(root, {"video_token_index", "video_token_id"}, kDefaultVideoToken, config.text.vocabulary);
  if (config.image_token_id == config.video_token_id) {
    root.refuse(ErrorCode::kDamagedFile, "video_token_index", "images and videos have the same token");
  }
  return config;
}

LlavaOnevisionFolder read_llava_onevision(const ModelPackage& package) {
  const ModelDocument& config = package.required(ModelPart::kConfig);
  LlavaOnevisionFolder read;
  read.model = parse_llava_onevision_config(config.content, config.subject);
  read.processor = read_processor_config(package);
  check_agreement(read, package);
  return read;
}

}  // namespace winnow
