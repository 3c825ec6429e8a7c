#include "engine/models/families/llava_folder.h"

#include <algorithm>
#include <array>

#include "engine/base/error.h"
#include "engine/models/config/config_fields.h"
#include "engine/models/config/picture_config.h"

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

void llava_check_agreement(const LlavaFolder& folder, const ModelPackage& package) {
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

constexpr std::int64_t kDefaultSidePx = 224;

// Image processors by the name that a file has without "Fast", with what the class knows.
struct ProcessorType {
  const char* name;
  bool tiles = false;
  bool crops = true;    // to a square around the centre, from a picture whose shorter side was resized; else straight to height and width
  bool pads = false;    // heeds do_pad: to a square, before anything else
  bool halves = false;  // a mean and a deviation of 0.5; else CLIP's
};

constexpr std::array<ProcessorType, 4> kLlavaTypes = {{
    {.name = "CLIPImageProcessor"},
    {.name = "LlavaImageProcessor", .pads = true},
    {.name = "SiglipImageProcessor", .crops = false, .halves = true},
    {.name = "LlavaNextImageProcessor", .tiles = true},
}};

constexpr ProcessorType kVideos{.name = "LlavaNextVideoVideoProcessor"};

const ProcessorType& type_named(const JsonObject& object, const char* key, std::string name, bool tiles) {
  if (name.ends_with("Fast")) name.resize(name.size() - 4);
  const auto* found = std::ranges::find_if(kLlavaTypes, [&](const ProcessorType& type) { return name == type.name; });
  if (found == kLlavaTypes.end() || found->tiles != tiles)
    unsupported(object, key, quoted_name(name) + " is no processor of this model's images");
  return *found;
}

// Files of old versions have feature_extractor_type: "CLIPFeatureExtractor". Without any name it is the class that goes with the model.
const ProcessorType& llava_type_of(const JsonObject& object, bool tiles) {
  constexpr std::string_view kOldEnd = "FeatureExtractor";
  if (object.has("image_processor_type")) {
    return type_named(object, "image_processor_type", object.string("image_processor_type", kMaxNameBytes), tiles);
  }
  if (!object.has("feature_extractor_type")) return tiles ? kLlavaTypes[3] : kLlavaTypes[1];
  std::string name = object.string("feature_extractor_type", kMaxNameBytes);
  if (const std::size_t end = name.find(kOldEnd); end != std::string::npos) name.replace(end, std::string::npos, "ImageProcessor");
  return type_named(object, "feature_extractor_type", name, tiles);
}

PixelSize square(std::int64_t side) { return {side, side}; }

PixelSize read_height_and_width(const JsonObject& size) {
  return {size.integer("height", 1, kMaxProcessedSidePx), size.integer("width", 1, kMaxProcessedSidePx)};
}

// Into size and shortest_edge_px, before any crop. {"shortest_edge": s} or a plain s: the shorter side; {"height": h, "width": w}: both.
void llava_read_size(const JsonObject& object, const ProcessorType& type, PictureRules& rules) {
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

PictureRules llava_read_rules(const JsonObject& object, const ProcessorType& type) {
  PictureRules rules;
  if (!object.boolean("do_resize", true)) unsupported(object, "do_resize", "pictures that are not resized do not fit the vision tower");
  llava_read_size(object, type, rules);
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
  config.image = llava_read_rules(object, llava_type_of(object, sight.tiles));
  const bool fast = object.has("image_processor_type") || object.has("feature_extractor_type");
  config.image.arithmetic = fast ? ResizeArithmetic::kTorch : ResizeArithmetic::kPillow;
  if (!sight.tiles) return;
  config.grid_pinpoints = object.has("image_grid_pinpoints") ? read_grid_pinpoints(object, "image_grid_pinpoints") : llava_next_pinpoints();
}

PictureRules read_videos(const JsonObject& object) {
  const std::string name = object.string("video_processor_type", kMaxNameBytes, kVideos.name);
  if (name != kVideos.name) unsupported(object, "video_processor_type", quoted_name(name) + " is no processor of this model's videos");
  return llava_read_rules(object, kVideos);
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
  llava_check_agreement(read, package);
  return read;
}

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
