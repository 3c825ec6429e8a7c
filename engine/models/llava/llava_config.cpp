#include "engine/models/llava/llava_config.h"

#include <algorithm>
#include <array>

#include "engine/base/error.h"
#include "engine/models/config_fields.h"

namespace winnow {
namespace {

// The class's behaviour, and the defaults of its configuration.
struct LlavaClass {
  const char* model_type;
  LlavaSight sight;
  std::int64_t image_token;
  std::int64_t video_token;
};

constexpr std::array<LlavaClass, 3> kClasses = {{
    {"llava", {.tiles = false, .videos = false}, 32'000, -1},
    {"llava_next", {.tiles = true, .videos = false}, 32'000, -1},
    {"llava_next_video", {.tiles = true, .videos = true}, 32'001, 32'000},
}};

// The tower of a config.json without vision_config: CLIP ViT-L/14 at 336 px.
const Json& default_tower() {
  static const Json tower = {
      {"model_type", "clip_vision_model"}, {"hidden_size", 1024}, {"intermediate_size", 4096}, {"num_hidden_layers", 24},
      {"num_attention_heads", 16},         {"image_size", 336},   {"patch_size", 14}};
  return tower;
}

const Json& no_members() {
  static const Json none = Json::object();
  return none;
}

// Frames are pooled as the processor counts their tokens: a quarter of the patches.
FramePooling read_pooling(const JsonObject& root, const LlavaConfig& config) {
  const std::string mode = root.string("spatial_pool_mode", kMaxNameBytes, "average");
  if (mode != "average" && mode != "max") unsupported(root, "spatial_pool_mode", quoted_name(mode) + " is neither \"average\" nor \"max\"");
  if (root.integer("spatial_pool_stride", 1, 64, 2) != 2 || config.vision.patches_per_side % 2 != 0)
    unsupported(root, "spatial_pool_stride", "frames are pooled by 2 from an even number of patches a side, as transformers counts them");
  return mode == "max" ? FramePooling::kMaximum : FramePooling::kAverage;
}

void check_agreement(const LlavaFolder& folder, const ModelPackage& package) {
  const LlavaConfig& model = folder.model;
  const LlavaProcessorConfig& processor = folder.processor;
  const std::string preparation = package.subject(ModelPart::kImageProcessor);
  const std::string combined = package.subject(ModelPart::kProcessor);
  const PixelSize side{model.vision.image_size_px, model.vision.image_size_px};
  require_agreement(processor.image.size == side, preparation, "size", "it differs from the vision tower's image_size");
  require_agreement(!model.sight.videos || processor.video.size == side, package.subject(ModelPart::kVideoProcessor), "size",
                    "it differs from the vision tower's image_size");
  require_agreement(processor.grid_pinpoints == model.grid.pinpoints, preparation, "image_grid_pinpoints", "it differs from config.json");
  require_agreement(processor.patch_size_px.value_or(model.vision.patch_size_px) == model.vision.patch_size_px, combined, "patch_size",
                    "it differs from config.json");
  const std::int64_t beside_patches = model.vision.class_token ? 1 : 0;
  require_agreement(processor.additional_tokens.value_or(beside_patches) == beside_patches, combined, "num_additional_image_tokens",
                    "the vision tower makes another number of tokens beside its patches");
  const char* strategy = name_of(model.select_strategy);
  require_agreement(processor.feature_select_strategy.value_or(strategy) == strategy, combined, "vision_feature_select_strategy",
                    "it differs from config.json");
}

}  // namespace

LlavaConfig parse_llava_config(const Json& document, const std::string& file, std::string_view model_type) {
  const auto* const known = std::ranges::find(kClasses, model_type, &LlavaClass::model_type);
  require(known != kClasses.end(), "a LLaVA of a class that is in the table");
  const JsonObject root(document, file);
  require_model_type(root, model_type, true);
  const JsonObject text = root.says("text_config") ? root.object("text_config") : JsonObject(no_members(), file, "text_config");
  const JsonObject vision = root.says("vision_config") ? root.object("vision_config") : JsonObject(default_tower(), file, "vision_config");
  LlavaConfig config;
  config.text = parse_decoder_config(text, "llama");
  config.text.tie_word_embeddings = config.text.tie_word_embeddings || root.boolean("tie_word_embeddings", false);
  static_cast<LlavaVisionConfig&>(config) = read_llava_vision(root, vision, {});
  config.sight = known->sight;
  config.grid.side_px = config.vision.image_size_px;
  config.grid.patches_per_side = config.vision.patches_per_side;
  if (config.sight.tiles) {
    config.grid.pinpoints = root.has("image_grid_pinpoints") ? read_grid_pinpoints(root, "image_grid_pinpoints") : llava_next_pinpoints();
    if (!config.features_are_patches())
      unsupported(root, "vision_feature_select_strategy",
                  quoted_name(name_of(config.select_strategy)) + " leaves no square of features to stitch tiles");
  }
  if (config.sight.videos) {
    config.pooling.mode = read_pooling(root, config);
    config.video_token_id = read_media_token(root, {"video_token_index", "video_token_id"}, known->video_token, config.text.vocabulary);
  }
  config.image_token_id = read_media_token(root, {"image_token_index", "image_token_id"}, known->image_token, config.text.vocabulary);
  if (config.image_token_id == config.video_token_id)
    root.refuse(ErrorCode::kDamagedFile, "video_token_index", "images and videos have the same token");
  return config;
}

LlavaFolder read_llava(const ModelPackage& package, std::string_view model_type) {
  const ModelDocument& config = package.required(ModelPart::kConfig);
  LlavaFolder read;
  read.model = parse_llava_config(config.content, config.subject, model_type);
  read.processor = read_llava_processor(package, read.model.sight);
  check_agreement(read, package);
  return read;
}

}  // namespace winnow
