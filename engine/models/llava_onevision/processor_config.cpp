#include "engine/models/llava_onevision/processor_config.h"

#include "engine/base/error.h"
#include "engine/models/config_fields.h"
#include "engine/models/picture_config.h"

namespace winnow {
namespace {

// {"height": h, "width": w}; {"shortest_edge": s} and a plain s mean a square for images.
PixelSize read_size(const JsonObject& object) {
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

PictureRules read_common(const JsonObject& object) {
  PictureRules rules;
  if (!object.boolean("do_resize", true)) unsupported(object, "do_resize", "pictures that are not resized do not fit the vision tower");
  if (object.boolean("do_center_crop", false)) unsupported(object, "do_center_crop", "centre crops are not part of this processor");
  rules.size = read_size(object);
  if (rules.size.height_px != rules.size.width_px) unsupported(object, "size", "only square pictures fit the vision tower");
  rules.filter = read_resample_filter(object);
  rules.scaling = read_pixel_scaling(object);
  return rules;
}

}  // namespace

std::vector<PixelSize> default_grid_pinpoints() {
  std::vector<PixelSize> pinpoints;
  for (std::int64_t rows = 1; rows <= 6; ++rows) {
    for (std::int64_t columns = 1; columns <= 6; ++columns) pinpoints.push_back({rows * 384, columns * 384});
  }
  return pinpoints;
}

ImageProcessorConfig parse_image_processor(const JsonObject& object) {
  ImageProcessorConfig config;
  static_cast<PictureRules&>(config) = read_common(object);
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
  return read_common(object);
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

}  // namespace winnow
