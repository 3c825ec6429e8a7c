#include "engine/models/llava/llava_processor_config.h"

#include <algorithm>
#include <array>

#include "engine/base/error.h"
#include "engine/models/config_fields.h"
#include "engine/models/picture_config.h"

namespace winnow {
namespace {

constexpr std::int64_t kDefaultSidePx = 224;

// Image processors by the name that a file has without "Fast", with what the class knows.
struct ProcessorType {
  const char* name;
  bool tiles = false;
  bool crops = true;    // to a square around the centre, from a picture whose shorter side was resized; else straight to height and width
  bool pads = false;    // heeds do_pad: to a square, before anything else
  bool halves = false;  // a mean and a deviation of 0.5; else CLIP's
};

constexpr std::array<ProcessorType, 4> kTypes = {{
    {.name = "CLIPImageProcessor"},
    {.name = "LlavaImageProcessor", .pads = true},
    {.name = "SiglipImageProcessor", .crops = false, .halves = true},
    {.name = "LlavaNextImageProcessor", .tiles = true},
}};

constexpr ProcessorType kVideos{.name = "LlavaNextVideoVideoProcessor"};

const ProcessorType& type_named(const JsonObject& object, const char* key, std::string name, bool tiles) {
  if (name.ends_with("Fast")) name.resize(name.size() - 4);
  const auto* found = std::ranges::find_if(kTypes, [&](const ProcessorType& type) { return name == type.name; });
  if (found == kTypes.end() || found->tiles != tiles)
    unsupported(object, key, quoted_name(name) + " is no processor of this model's images");
  return *found;
}

// Files of old versions have feature_extractor_type: "CLIPFeatureExtractor". Without any name it is the class that goes with the model.
const ProcessorType& type_of(const JsonObject& object, bool tiles) {
  constexpr std::string_view kOldEnd = "FeatureExtractor";
  if (object.has("image_processor_type")) {
    return type_named(object, "image_processor_type", object.string("image_processor_type", kMaxNameBytes), tiles);
  }
  if (!object.has("feature_extractor_type")) return tiles ? kTypes[3] : kTypes[1];
  std::string name = object.string("feature_extractor_type", kMaxNameBytes);
  if (const std::size_t end = name.find(kOldEnd); end != std::string::npos) name.replace(end, std::string::npos, "ImageProcessor");
  return type_named(object, "feature_extractor_type", name, tiles);
}

PixelSize square(std::int64_t side) { return {side, side}; }

PixelSize read_height_and_width(const JsonObject& size) {
  return {size.integer("height", 1, kMaxProcessedSidePx), size.integer("width", 1, kMaxProcessedSidePx)};
}

// Into size and shortest_edge_px, before any crop. {"shortest_edge": s} or a plain s: the shorter side; {"height": h, "width": w}: both.
void read_size(const JsonObject& object, const ProcessorType& type, PictureRules& rules) {
  rules.size = square(kDefaultSidePx);
  rules.shortest_edge_px = type.crops ? kDefaultSidePx : 0;
  if (!object.has("size")) return;
  if (object.value("size").is_number()) {
    rules.shortest_edge_px = object.integer("size", 1, kMaxProcessedSidePx);
    return;
  }
  const JsonObject size = object.object("size");
  if (size.has("longest_edge")) unsupported(object, "size", "a longest_edge is not implemented");
  if (size.has("shortest_edge")) {
    rules.shortest_edge_px = size.integer("shortest_edge", 1, kMaxProcessedSidePx);
  } else {
    rules.shortest_edge_px = 0;
    rules.size = read_height_and_width(size);
  }
}

PixelSize read_crop(const JsonObject& object) {
  if (!object.has("crop_size")) return square(kDefaultSidePx);
  if (object.value("crop_size").is_number()) return square(object.integer("crop_size", 1, kMaxProcessedSidePx));
  return read_height_and_width(object.object("crop_size"));
}

PictureRules read_rules(const JsonObject& object, const ProcessorType& type) {
  PictureRules rules;
  if (!object.boolean("do_resize", true)) unsupported(object, "do_resize", "pictures that are not resized do not fit the vision tower");
  read_size(object, type, rules);
  rules.pad_to_square = type.pads && object.boolean("do_pad", false);
  rules.filter = read_resample_filter(object);
  PixelScaling defaults;
  if (type.halves) {
    defaults.mean.fill(0.5);
    defaults.standard_deviation.fill(0.5);
  }
  rules.scaling = read_pixel_scaling(object, defaults);
  if (type.tiles) {  // tiles and the picture itself are squares of one side; what is cropped from them is all of them
    const PixelSize side = rules.shortest_edge_px > 0 ? square(rules.shortest_edge_px) : rules.size;
    if (read_crop(object) != side) unsupported(object, "crop_size", "tiles that are not as large as the picture's size");
    rules.size = side;
    rules.shortest_edge_px = 0;
  } else if (object.boolean("do_center_crop", type.crops)) {
    if (rules.shortest_edge_px == 0) unsupported(object, "size", "a centre is cut out of pictures with a shortest_edge only");
    rules.size = read_crop(object);
  } else if (rules.shortest_edge_px > 0) {
    if (!rules.pad_to_square)
      unsupported(object, "size", "pictures that keep their proportions and are not cropped do not fit the vision tower");
    rules.size = square(rules.shortest_edge_px);
    rules.shortest_edge_px = 0;
  }
  if (rules.size.height_px != rules.size.width_px) unsupported(object, "size", "only square pictures fit the vision tower");
  return rules;
}

void read_images(const JsonObject& object, LlavaSight sight, LlavaProcessorConfig& config) {
  config.image = read_rules(object, type_of(object, sight.tiles));
  const bool fast = object.has("image_processor_type") || object.has("feature_extractor_type");
  config.image.arithmetic = fast ? ResizeArithmetic::kTorch : ResizeArithmetic::kPillow;
  if (!sight.tiles) return;
  config.grid_pinpoints = object.has("image_grid_pinpoints") ? read_grid_pinpoints(object, "image_grid_pinpoints") : llava_next_pinpoints();
}

PictureRules read_videos(const JsonObject& object) {
  const std::string name = object.string("video_processor_type", kMaxNameBytes, kVideos.name);
  if (name != kVideos.name) unsupported(object, "video_processor_type", quoted_name(name) + " is no processor of this model's videos");
  return read_rules(object, kVideos);
}

}  // namespace

std::vector<PixelSize> llava_next_pinpoints() { return {{336, 672}, {672, 336}, {672, 672}, {1008, 336}, {336, 1008}}; }

LlavaProcessorConfig read_llava_processor(const ModelPackage& package, LlavaSight sight) {
  const ModelDocument* processor = package.document(ModelPart::kProcessor);
  const ModelDocument* image = package.document(ModelPart::kImageProcessor);
  const ModelDocument* video = package.document(ModelPart::kVideoProcessor);
  LlavaProcessorConfig config;
  std::optional<JsonObject> images;
  std::optional<JsonObject> videos;
  if (processor != nullptr) {
    const JsonObject root = processor->root();
    images = root.optional_object("image_processor");
    videos = root.optional_object("video_processor");
    if (root.has("patch_size")) config.patch_size_px = root.integer("patch_size", 1, kMaxProcessedSidePx);
    if (root.has("num_additional_image_tokens")) config.additional_tokens = root.integer("num_additional_image_tokens", 0, 64);
    if (root.has("vision_feature_select_strategy"))
      config.feature_select_strategy = root.string("vision_feature_select_strategy", kMaxNameBytes);
  }
  if (!images && image != nullptr) images = image->root();
  read_images(required_image(images, package), sight, config);
  if (!sight.videos) return config;
  if (!videos && video != nullptr) videos = video->root();
  config.video = read_videos(videos ? *videos : *images);
  return config;
}

}  // namespace winnow
