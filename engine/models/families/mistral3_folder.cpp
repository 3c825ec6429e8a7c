#include "engine/models/families/mistral3_folder.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "engine/base/error.h"
#include "engine/models/config/config_fields.h"
#include "engine/models/config/picture_config.h"

namespace winnow {
namespace {

constexpr std::int64_t kMostImagePx = 8192;
constexpr double kMostTheta = 1e12;
constexpr std::size_t kMostTokenBytes = 256;
constexpr std::int64_t kDefaultEdgePx = 1024;

// PixtralVisionConfig's and Mistral3Config's.
Json pixtral_defaults() {
  return {{"hidden_size", 1024},       {"intermediate_size", 4096}, {"num_hidden_layers", 24},
          {"num_attention_heads", 16}, {"image_size", 1540},        {"patch_size", 14}};
}

// vision_feature_layer: layers of the tower to run. transformers counts states, of which the first is the embedding.
std::int64_t read_layers(const JsonObject& root, std::int64_t layers) {
  const char* const key = "vision_feature_layer";
  if (!root.has(key)) return layers;
  if (!root.value(key).is_number_integer()) unsupported(root, key, "features of several layers are not implemented");
  const std::int64_t state = root.integer(key, -layers, layers);
  const std::int64_t wanted = state < 0 ? layers + 1 + state : state;
  if (wanted < 1) unsupported(root, key, "features from before the first layer are not implemented");
  return wanted;
}

double read_theta(const JsonObject& vision) {
  const std::optional<JsonObject> rope = vision.optional_object("rope_parameters");
  return (rope ? *rope : vision).real("rope_theta", 1.0, kMostTheta, 10'000.0);
}

PixtralConfig mistral3_parse_tower(const JsonObject& vision) {
  require_model_type(vision, "pixtral", true);
  PixtralConfig config;
  config.hidden_size = vision.integer("hidden_size", 1, kMaxHidden);
  config.intermediate_size = vision.integer("intermediate_size", 1, kMaxIntermediate);
  config.layers = vision.integer("num_hidden_layers", 1, kMaxLayers);
  config.heads = vision.integer("num_attention_heads", 1, kMaxHeads);
  config.head_dim = read_head_dim(vision, config.hidden_size, config.heads);
  if (config.head_dim * config.heads != config.hidden_size)
    vision.refuse(ErrorCode::kDamagedFile, "head_dim", "heads times head_dim must be hidden_size");
  if (config.head_dim % 4 != 0)
    vision.refuse(ErrorCode::kDamagedFile, "head_dim", "rows and columns need a head size that is a multiple of four");
  config.image_px = vision.integer("image_size", 1, kMostImagePx);
  config.theta = read_theta(vision);
  config.activation = read_activation(vision, "hidden_act", "silu");
  return config;
}

std::int64_t read_patch_px(const JsonObject& object, const char* key, std::int64_t fallback) {
  if (!object.has(key)) return fallback;
  if (object.value(key).is_number()) return object.integer(key, 1, kMaxPatchPx);
  const JsonObject patch = object.object(key);
  const std::int64_t height = patch.integer("height", 1, kMaxPatchPx);
  if (patch.integer("width", 1, kMaxPatchPx) != height) unsupported(object, key, "only square patches are implemented");
  return height;
}

// PixtralImageProcessor's, whose patches are PixtralProcessor's cells.
void read_pixels(const JsonObject& object, Mistral3Folder& folder) {
  if (!object.boolean("do_resize", true)) unsupported(object, "do_resize", "pictures that are not resized are no whole patches");
  if (object.boolean("do_center_crop", false)) unsupported(object, "do_center_crop", "cropping is not implemented for this model");
  folder.longest_edge_px = kDefaultEdgePx;
  if (object.has("size")) {
    const JsonObject size = object.object("size");
    if (!size.has("longest_edge")) unsupported(object, "size", "only a longest_edge is implemented");
    folder.longest_edge_px = size.integer("longest_edge", 1, kMostImagePx);
  }
  if (folder.longest_edge_px > folder.model.vision.image_px) {
    object.refuse(
        ErrorCode::kDamagedFile, "size.longest_edge",
        std::to_string(folder.longest_edge_px) + " px, and the vision tower was made for " + std::to_string(folder.model.vision.image_px));
  }
  folder.pixels.filter = object.has("resample") ? read_resample_filter(object) : ResampleFilter::kBicubic;
  folder.pixels.scaling = read_pixel_scaling(object);
}

void require_processor_agrees(const JsonObject& processor, const PatchGeometry& patches) {
  if (read_patch_px(processor, "patch_size", patches.patch_px) != patches.patch_px)
    processor.refuse(ErrorCode::kDamagedFile, "patch_size", "the vision tower's is " + std::to_string(patches.patch_px));
  if (processor.integer("spatial_merge_size", 1, kMaxMerge, patches.merge) != patches.merge)
    processor.refuse(ErrorCode::kDamagedFile, "spatial_merge_size", "the model's is " + std::to_string(patches.merge));
}

}  // namespace

Mistral3Folder read_mistral3(const ModelPackage& package) {
  const ModelDocument& document = package.required(ModelPart::kConfig);
  const JsonObject root = document.root();
  require_model_type(root, "mistral3", true);
  Mistral3Folder folder;
  Mistral3Config& model = folder.model;
  model.text = parse_decoder_config(root.object("text_config"), "mistral");
  model.text.tie_word_embeddings = model.text.tie_word_embeddings || root.boolean("tie_word_embeddings", false);
  const Json completed = completed_object(root, "vision_config", pixtral_defaults());
  const JsonObject vision(completed, document.subject, "vision_config");
  model.vision = mistral3_parse_tower(vision);
  model.vision.layers = read_layers(root, model.vision.layers);
  model.projector_activation = read_activation(root, "projector_hidden_act", "gelu");
  model.projector_bias = root.boolean("multimodal_projector_bias", false);
  model.image_token_id = read_media_token(root, {"image_token_index", "image_token_id"}, model.image_token_id, model.text.vocabulary);
  folder.pixels.patches = {vision.integer("patch_size", 1, kMaxPatchPx), root.integer("spatial_merge_size", 1, kMaxMerge, 2), 1};

  read_pixels(required_image(processor_documents(package).image, package), folder);
  if (const ModelDocument* const processor = package.document(ModelPart::kProcessor)) {
    const JsonObject object = processor->root();
    require_processor_agrees(object, folder.pixels.patches);
    folder.image_token = object.string("image_token", kMostTokenBytes, folder.image_token);
    folder.break_token = object.string("image_break_token", kMostTokenBytes, folder.break_token);
    folder.end_token = object.string("image_end_token", kMostTokenBytes, folder.end_token);
  }
  return folder;
}

PixelSize pixtral_size(PixelSize source, std::int64_t longest_edge_px, std::int64_t cell_px) {
  const auto edge = static_cast<double>(longest_edge_px);
  const double ratio = std::max(static_cast<double>(source.height_px) / edge, static_cast<double>(source.width_px) / edge);
  const auto whole_cells = [&](std::int64_t side) {
    if (ratio > 1.0) side = static_cast<std::int64_t>(std::floor(static_cast<double>(side) / ratio));
    return (std::max<std::int64_t>(side, 1) - 1) / cell_px * cell_px + cell_px;
  };
  return {whole_cells(source.height_px), whole_cells(source.width_px)};
}

std::int64_t longest_edge_for(std::int64_t tokens, PixelSize source, std::int64_t longest_edge_px, std::int64_t cell_px) {
  if (tokens == 0) return longest_edge_px;
  const auto takes = [&](std::int64_t edge_px) {
    const PixelSize size = pixtral_size(source, edge_px, cell_px);
    return size.height_px / cell_px * (size.width_px / cell_px + 1);
  };
  if (takes(longest_edge_px) <= tokens) return longest_edge_px;
  // More edge is never fewer tokens.
  std::int64_t fits = 1;
  for (std::int64_t beyond = (longest_edge_px + cell_px - 1) / cell_px; beyond - fits > 1;) {
    const std::int64_t middle = (fits + beyond) / 2;
    (takes(middle * cell_px) <= tokens ? fits : beyond) = middle;
  }
  return std::min(fits * cell_px, longest_edge_px);
}

}  // namespace winnow
