#include "engine/models/llava_onevision/processor_config.h"

#include "engine/base/error.h"
#include "engine/models/config_fields.h"
#include "engine/models/picture_config.h"

namespace winnow {
namespace {

constexpr std::int64_t kMaxSidePx = 16'384;
constexpr std::int64_t kMaxGridPixels = std::int64_t{16} << 20;  // of one pinpoint: what the tiles of one image may take
constexpr std::size_t kMaxPinpoints = 256;
constexpr std::int64_t kMaxProcessedSidePx = 4096;

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

FrameProcessorConfig read_common(const JsonObject& object) {
  FrameProcessorConfig config;
  if (!object.boolean("do_resize", true)) unsupported(object, "do_resize", "pictures that are not resized do not fit the vision tower");
  if (object.boolean("do_center_crop", false)) unsupported(object, "do_center_crop", "centre crops are not part of this processor");
  config.size = read_size(object);
  if (config.size.height_px != config.size.width_px) unsupported(object, "size", "only square pictures fit the vision tower");
  config.filter = read_resample_filter(object);
  config.scaling = read_pixel_scaling(object);
  return config;
}

}  // namespace

std::vector<PixelSize> default_grid_pinpoints() {
  std::vector<PixelSize> pinpoints;
  for (std::int64_t rows = 1; rows <= 6; ++rows) {
    for (std::int64_t columns = 1; columns <= 6; ++columns) pinpoints.push_back({rows * 384, columns * 384});
  }
  return pinpoints;
}

std::vector<PixelSize> read_grid_pinpoints(const JsonObject& object, const char* key) {
  const Json& list = object.value(key);
  if (!list.is_array() || list.empty()) object.refuse(ErrorCode::kDamagedFile, key, "it must be a list of [height, width] pairs");
  if (list.size() > kMaxPinpoints) {
    object.refuse(ErrorCode::kLimitExceeded, key, "it has more than " + std::to_string(kMaxPinpoints) + " entries");
  }
  std::vector<PixelSize> pinpoints;
  for (const Json& pair : list) {
    if (!pair.is_array() || pair.size() != 2) object.refuse(ErrorCode::kDamagedFile, key, "an entry that is not a [height, width] pair");
    // Wrapped so that the pair's numbers get the same checks as fields.
    const Json entry = {{"pair", pair}};
    const std::vector<std::int64_t> numbers = JsonObject(entry, object.file(), key).integers("pair", 1, kMaxSidePx, 2);
    if (numbers[0] * numbers[1] > kMaxGridPixels) object.refuse(ErrorCode::kLimitExceeded, key, "a resolution of more than 16 Mpx");
    pinpoints.push_back({numbers[0], numbers[1]});
  }
  return pinpoints;
}

ImageProcessorConfig parse_image_processor(const JsonObject& object) {
  ImageProcessorConfig config;
  static_cast<FrameProcessorConfig&>(config) = read_common(object);
  config.grid_pinpoints =
      object.has("image_grid_pinpoints") ? read_grid_pinpoints(object, "image_grid_pinpoints") : default_grid_pinpoints();
  return config;
}

FrameProcessorConfig parse_video_processor(const JsonObject& object) {
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
  if (!documents.image) {
    throw Exception(ErrorCode::kFileNotFound, package.subject(ModelPart::kImageProcessor),
                    "the folder does not say how images are prepared");
  }
  config.image = parse_image_processor(*documents.image);
  config.video = documents.video ? parse_video_processor(*documents.video) : FrameProcessorConfig(config.image);
  return config;
}

}  // namespace winnow
