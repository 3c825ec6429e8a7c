#include "engine/models/families/llava_onevision_folder.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include "engine/base/error.h"
#include "engine/models/config/config_fields.h"
#include "engine/models/config/picture_config.h"

namespace winnow {
namespace {

constexpr std::int64_t kOnevisionDefaultImageToken = 151'646;
constexpr std::int64_t kOnevisionDefaultVideoToken = 151'647;

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

void onevision_check_agreement(const LlavaOnevisionFolder& folder, const ModelPackage& package) {
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

// {"height": h, "width": w}; {"shortest_edge": s} and a plain s mean a square for images.
PixelSize onevision_read_size(const JsonObject& object) {
  if (!object.has("size")) return {384, 384};
  if (object.value("size").is_number()) {
    const std::int64_t side = object.integer("size", 1, kMaxProcessedSidePx);
    return {side, side};
  }
  const JsonObject size = object.object("size");
  if (size.has("height") || size.has("width")) {
    return {size.integer("height", 1, kMaxProcessedSidePx), size.integer("width", 1, kMaxProcessedSidePx)};
  }
  const std::int64_t side = size.integer("shortest_edge", 1, kMaxProcessedSidePx);
  return {side, side};
}

PictureRules onevision_read_common(const JsonObject& object) {
  PictureRules rules;
  if (!object.boolean("do_resize", true)) unsupported(object, "do_resize", "pictures that are not resized do not fit the vision tower");
  if (object.boolean("do_center_crop", false)) unsupported(object, "do_center_crop", "centre crops are not part of this processor");
  rules.size = onevision_read_size(object);
  if (rules.size.height_px != rules.size.width_px) unsupported(object, "size", "only square pictures fit the vision tower");
  rules.filter = read_resample_filter(object);
  rules.scaling = read_pixel_scaling(object);
  return rules;
}

constexpr std::int64_t kMostStride = 64;

FramePooling read_mode(const JsonObject& root) {
  const std::string mode = root.string("mm_spatial_pool_mode", kMaxNameBytes, "bilinear");
  if (mode == "average") return FramePooling::kAverage;
  if (mode == "max") return FramePooling::kMaximum;
  if (mode == "bilinear") return FramePooling::kBilinear;
  unsupported(root, "mm_spatial_pool_mode", quoted_name(mode) + " is none of \"average\", \"max\" and \"bilinear\"");
}

NewlinePlace read_newline(const JsonObject& root) {
  constexpr std::array<std::pair<const char*, NewlinePlace>, 4> kPlaces = {{{"grid", NewlinePlace::kRow},
                                                                            {"frame", NewlinePlace::kFrame},
                                                                            {"one_token", NewlinePlace::kVideo},
                                                                            {"no_token", NewlinePlace::kNowhere}}};
  const std::string name = root.string("mm_newline_position", kMaxNameBytes, "one_token");
  for (const auto& [known, place] : kPlaces) {
    if (name == known) return place;
  }
  unsupported(root, "mm_newline_position", quoted_name(name) + " is none of \"grid\", \"frame\", \"one_token\" and \"no_token\"");
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
  config.image_token_id =
      read_media_token(root, {"image_token_index", "image_token_id"}, kOnevisionDefaultImageToken, config.text.vocabulary);
  config.video_token_id =
      read_media_token(root, {"video_token_index", "video_token_id"}, kOnevisionDefaultVideoToken, config.text.vocabulary);
  if (config.image_token_id == config.video_token_id) {
    root.refuse(ErrorCode::kDamagedFile, "video_token_index", "images and videos have the same token");
  }
  return config;
}

LlavaOnevisionFolder read_llava_onevision(const ModelPackage& package) {
  const ModelDocument& config = package.required(ModelPart::kConfig);
  LlavaOnevisionFolder read{.model = parse_llava_onevision_config(config.content, config.subject),
                            .processor = read_processor_config(package)};
  onevision_check_agreement(read, package);
  return read;
}

std::vector<PixelSize> default_grid_pinpoints() {
  std::vector<PixelSize> pinpoints;
  for (std::int64_t rows = 1; rows <= 6; ++rows) {
    for (std::int64_t columns = 1; columns <= 6; ++columns) pinpoints.push_back({rows * 384, columns * 384});
  }
  return pinpoints;
}

ImageProcessorConfig parse_image_processor(const JsonObject& object) {
  ImageProcessorConfig config;
  static_cast<PictureRules&>(config) = onevision_read_common(object);
  config.grid_pinpoints =
      object.has("image_grid_pinpoints") ? read_grid_pinpoints(object, "image_grid_pinpoints") : default_grid_pinpoints();
  const bool fast = object.has("image_processor_type") || object.has("feature_extractor_type");
  config.arithmetic = fast ? ResizeArithmetic::kTorch : ResizeArithmetic::kPillow;
  return config;
}

PictureRules parse_video_processor(const JsonObject& object) {
  // Without a height and width torchvision would keep the aspect ratio, which the tower cannot take.
  if (object.has("size") && object.value("size").is_object() && !object.object("size").has("height")) {
    unsupported(object, "size", "frames need a height and a width");
  }
  return onevision_read_common(object);
}

ProcessorConfig read_processor_config(const ModelPackage& package) {
  const ProcessorDocuments documents = processor_documents(package);
  ProcessorConfig config;
  if (const ModelDocument* processor = package.document(ModelPart::kProcessor)) {
    const JsonObject root = processor->root();
    if (root.has("num_image_tokens")) config.image_tokens = root.integer("num_image_tokens", 1, 65'536);
    if (root.has("vision_feature_select_strategy")) config.feature_select_strategy = root.string("vision_feature_select_strategy", 64);
    if (root.has("vision_aspect_ratio")) config.aspect_ratio = root.string("vision_aspect_ratio", 64);
  }
  config.image = parse_image_processor(required_image(documents.image, package));
  config.video = documents.video ? parse_video_processor(*documents.video) : PictureRules(config.image);
  config.video.arithmetic = ResizeArithmetic::kTorch;
  return config;
}

std::vector<TokenOrigin> single_image_origins(const GridRules& rules) {
  std::vector<TokenOrigin> origins = frame_origins(1, rules.patches_per_side);
  if (rules.drop_first_feature) origins.erase(origins.begin());
  origins.push_back(origin_beside_patches(0));
  return origins;
}

std::int64_t frame_side(const GridRules& rules, const VideoRules& video) {
  if (rules.drop_first_feature) {
    throw Exception(ErrorCode::kUnsupportedModel, "vision_feature_select_strategy",
                    "\"default\" leaves no square of features to pool frames");
  }
  return video.pooling.side(rules.patches_per_side);
}

std::int64_t frame_tokens(const GridRules& rules, const VideoRules& video) {
  const std::int64_t side = frame_side(rules, video);
  const std::int64_t newlines = video.newline == NewlinePlace::kRow ? side : video.newline == NewlinePlace::kFrame ? 1 : 0;
  return side * side + newlines;
}

std::vector<TokenOrigin> video_origins(std::int64_t frames, const GridRules& rules, const VideoRules& video) {
  const std::int64_t side = frame_side(rules, video);
  std::vector<TokenOrigin> origins;
  for (std::int64_t frame = 0; frame < frames; ++frame) {
    for (std::int64_t row = 0; row < side; ++row) {
      for (std::int64_t column = 0; column < side; ++column) origins.push_back(visual_origin(frame, row, column));
      if (video.newline == NewlinePlace::kRow) origins.push_back(origin_beside_patches(frame));
    }
    if (video.newline == NewlinePlace::kFrame) origins.push_back(origin_beside_patches(frame));
  }
  if (video.newline == NewlinePlace::kVideo) origins.push_back(origin_beside_patches(-1));
  return origins;
}

VideoRules read_video_rules(const JsonObject& root, std::int64_t patches_per_side) {
  VideoRules rules;
  rules.pooling.mode = read_mode(root);
  rules.pooling.stride = root.integer("mm_spatial_pool_stride", 1, kMostStride, rules.pooling.stride);
  if (rules.pooling.side(patches_per_side) == 0)
    root.refuse(ErrorCode::kDamagedFile, "mm_spatial_pool_stride", "it goes beyond the vision tower's patches and leaves none of a frame");
  rules.newline = read_newline(root);
  rules.tells_times = root.boolean("add_time_instruction", false);
  if (root.boolean("add_faster_video", false))
    unsupported(root, "add_faster_video", "frames that are pooled twice as much between others are not implemented");
  const std::string merge = root.string("mm_patch_merge_type", kMaxNameBytes, "spatial_unpad");
  if (merge != "spatial_unpad") unsupported(root, "mm_patch_merge_type", quoted_name(merge) + " is not \"spatial_unpad\"");
  return rules;
}

}  // namespace winnow
