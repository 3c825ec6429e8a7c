#include "engine/models/llava_onevision/processor_config.h"

#include "engine/base/error.h"

namespace winnow {
namespace {

constexpr std::int64_t kMaxSidePx = 16'384;
constexpr std::int64_t kMaxGridPixels = std::int64_t{16} << 20;  // of one pinpoint: what the tiles of one image may take
constexpr std::size_t kMaxPinpoints = 256;
constexpr std::int64_t kMaxProcessedSidePx = 4096;

[[noreturn]] void unsupported(const JsonObject& object, const char* key, const std::string& reason) {
  object.refuse(ErrorCode::kUnsupportedModel, key, reason);
}

// A list of three, or one number for all channels.
std::array<double, 3> read_channels(const JsonObject& object, const char* key, double min, std::array<double, 3> fallback) {
  if (!object.has(key)) return fallback;
  if (object.value(key).is_number()) {
    const double value = object.real(key, min, 1000.0);
    return {value, value, value};
  }
  const std::vector<double> values = object.reals(key, min, 1000.0, 3);
  if (values.size() != 3) object.refuse(ErrorCode::kDamagedFile, key, "it must have three entries, one per colour");
  return {values[0], values[1], values[2]};
}

PixelScaling read_scaling(const JsonObject& object) {
  PixelScaling scaling;
  scaling.rescale = object.boolean("do_rescale", true);
  scaling.rescale_factor = object.real("rescale_factor", 1e-6, 1e6, 1.0 / 255.0);
  scaling.normalize = object.boolean("do_normalize", true);
  scaling.mean = read_channels(object, "image_mean", -1000.0, scaling.mean);
  scaling.standard_deviation = read_channels(object, "image_std", 1e-6, scaling.standard_deviation);
  return scaling;
}

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
  const std::int64_t filter = object.integer("resample", 0, 5, static_cast<int>(ResampleFilter::kBicubic));
  if (filter != static_cast<int>(ResampleFilter::kBicubic) && filter != static_cast<int>(ResampleFilter::kBilinear)) {
    unsupported(object, "resample", "only bicubic (3) and bilinear (2) resizing are implemented");
  }
  config.filter = static_cast<ResampleFilter>(filter);
  config.scaling = read_scaling(object);
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
  const ModelDocument* processor = package.document(ModelPart::kProcessor);
  const ModelDocument* image = package.document(ModelPart::kImageProcessor);
  const ModelDocument* video = package.document(ModelPart::kVideoProcessor);
  ProcessorConfig config;
  std::optional<JsonObject> nested_image;
  std::optional<JsonObject> nested_video;
  if (processor != nullptr) {
    const JsonObject root = processor->root();
    nested_image = root.optional_object("image_processor");
    nested_video = root.optional_object("video_processor");
    if (root.has("num_image_tokens")) config.image_tokens = root.integer("num_image_tokens", 1, 65'536);
    if (root.has("vision_feature_select_strategy")) config.feature_select_strategy = root.string("vision_feature_select_strategy", 64);
    if (root.has("vision_aspect_ratio")) config.aspect_ratio = root.string("vision_aspect_ratio", 64);
  }
  if (!nested_image && image == nullptr) {
    throw Exception(ErrorCode::kFileNotFound, package.subject(ModelPart::kImageProcessor),
                    "the folder does not say how images are prepared");
  }
  config.image = parse_image_processor(nested_image ? *nested_image : image->root());
  if (nested_video) {
    config.video = parse_video_processor(*nested_video);
  } else if (video != nullptr) {
    config.video = parse_video_processor(video->root());
  } else if (image != nullptr) {
    config.video = parse_video_processor(image->root());
  } else {
    config.video = config.image;
  }
  return config;
}

}  // namespace winnow
