#include "engine/models/lfm2/lfm2_vl_config.h"

#include <cmath>
#include <string>
#include <string_view>

#include "engine/base/error.h"
#include "engine/models/config_fields.h"
#include "engine/models/lfm2/lfm2_text_config.h"
#include "engine/models/picture_config.h"

namespace winnow {
namespace {

constexpr std::int64_t kMostMerge = 8;
constexpr std::int64_t kMostPatchPx = 64;
constexpr std::int64_t kMostTileSidePx = 4096;
constexpr std::int64_t kMostPictureTokens = 16'384;
constexpr std::int64_t kMostTilePatches = 65'536;  // of all tiles of a picture
constexpr double kMostTolerance = 1e6;
constexpr PixelScaling kStandardScaling = {.mean = {0.5, 0.5, 0.5}, .standard_deviation = {0.5, 0.5, 0.5}};

// Siglip2VisionConfig's.
Json siglip2_defaults() {
  return {{"hidden_size", 768},        {"intermediate_size", 3072}, {"num_hidden_layers", 12},
          {"num_attention_heads", 12}, {"patch_size", 16},          {"num_patches", 256}};
}

VitConfig parse_naflex_tower(const JsonObject& root, const std::string& file) {
  Json document = completed_object(root, "vision_config", siglip2_defaults());
  const JsonObject vision(document, file, "vision_config");
  require_model_type(vision, "siglip2_vision_model", true);
  constexpr std::int64_t kMostPositions = 65'536;
  const std::int64_t positions = vision.integer("num_patches", 1, kMostPositions);
  const auto side = static_cast<std::int64_t>(std::llround(std::sqrt(static_cast<double>(positions))));
  if (side * side != positions) vision.refuse(ErrorCode::kDamagedFile, "num_patches", "it must be a square number");
  const std::int64_t patch_px = vision.integer("patch_size", 1, kMostPatchPx);
  if (vision.integer("num_channels", 1, 64, 3) != 3) unsupported(vision, "num_channels", "only three colours are implemented");
  Json plain = document;
  plain.erase("model_type");
  plain["image_size"] = patch_px;  // of a picture of one patch: each has its own
  VitConfig config = parse_vit_config(JsonObject(plain, file, "vision_config"), "siglip_vision_model");
  config.native_sizes = true;
  config.position_side = side;
  config.patch_kernel = vision.boolean("patch_embedding_is_kernel", false);  // of gguf_lfm2_projectors.cpp
  return config;
}

Lfm2VlConfig parse_lfm2_vl(const JsonObject& root, const std::string& file) {
  require_model_type(root, "lfm2_vl", true);
  Lfm2VlConfig config;
  config.text = parse_lfm2_config(root.object("text_config"));
  const char* const tied = root.has("tie_embedding") ? "tie_embedding" : "tie_word_embeddings";
  config.text.tie_word_embeddings = root.boolean(tied, true);
  config.vision = parse_naflex_tower(root, file);
  config.merge = root.integer("downsample_factor", 1, kMostMerge, config.merge);
  config.projector_size = root.integer("projector_hidden_size", 1, kMaxIntermediate, 2560);
  config.projector_norm = root.boolean("projector_use_layernorm", true);
  config.projector_bias = root.boolean("projector_bias", true);
  config.projector_activation = read_activation(root, "projector_hidden_act", "gelu");
  config.image_token_id = read_media_token(root, {"image_token_id"}, 396, config.text.vocabulary);
  return config;
}

void require_model_says_so(const JsonObject& object, const char* key, std::int64_t found, std::int64_t wanted) {
  if (found != wanted) object.refuse(ErrorCode::kDamagedFile, key, "the model's is " + std::to_string(wanted));
}

void read_tiles(const JsonObject& object, Lfm2PictureRules& rules) {
  if (!object.boolean("do_image_splitting", true)) {
    rules.tiles.least = rules.tiles.most = 1;
    return;
  }
  TileBounds& tiles = rules.tiles;
  tiles.least = object.integer("min_tiles", 1, kMostTilesOfAnImage, tiles.least);
  tiles.most = object.integer("max_tiles", 1, kMostTilesOfAnImage, tiles.most);
  if (tiles.least > tiles.most) object.refuse(ErrorCode::kDamagedFile, "min_tiles", "it is more than max_tiles");
  tiles.thumbnail = object.boolean("use_thumbnail", true);
  tiles.side_px = object.integer("tile_size", 1, kMostTileSidePx, tiles.side_px);
  if (tiles.side_px % rules.cell_px() != 0)
    object.refuse(ErrorCode::kDamagedFile, "tile_size",
                  "it must be a multiple of " + std::to_string(rules.cell_px()) + " px, a token's side");
  if (tiles.most * rules.tile_tokens() * rules.merge * rules.merge > kMostTilePatches)
    object.refuse(ErrorCode::kLimitExceeded, "max_tiles", "the tiles of a picture have more than 65,536 patches");
}

Lfm2PictureRules read_pictures(const JsonObject& object, const Lfm2VlConfig& model) {
  const std::string type = object.string("image_processor_type", kMaxNameBytes, "Lfm2VlImageProcessor");
  if (type != "Lfm2VlImageProcessor" && type != "Lfm2VlImageProcessorFast")
    unsupported(object, "image_processor_type", quoted_name(type) + " is not this model's image processor");
  Lfm2PictureRules rules;
  rules.patch_px = object.integer("encoder_patch_size", 1, kMostPatchPx, rules.patch_px);
  require_model_says_so(object, "encoder_patch_size", rules.patch_px, model.vision.patch_size_px);
  rules.merge = object.integer("downsample_factor", 1, kMostMerge, rules.merge);
  require_model_says_so(object, "downsample_factor", rules.merge, model.merge);
  rules.least_tokens = object.integer("min_image_tokens", 1, kMostPictureTokens, rules.least_tokens);
  rules.most_tokens = object.integer("max_image_tokens", 1, kMostPictureTokens, rules.most_tokens);
  if (rules.least_tokens > rules.most_tokens)
    object.refuse(ErrorCode::kDamagedFile, "min_image_tokens", "it is more than max_image_tokens");
  rules.tolerance = object.real("max_pixels_tolerance", 0.0, kMostTolerance, rules.tolerance);
  read_tiles(object, rules);
  if (object.has("resample")) rules.filter = read_resample_filter(object);
  rules.scaling = read_pixel_scaling(object, kStandardScaling);
  return rules;
}

}  // namespace

Lfm2VlFolder read_lfm2_vl(const ModelPackage& package) {
  const ModelDocument& config = package.required(ModelPart::kConfig);
  Lfm2VlFolder folder;
  folder.model = parse_lfm2_vl(config.root(), config.subject);
  folder.pictures = read_pictures(required_image(processor_documents(package).image, package), folder.model);
  return folder;
}

}  // namespace winnow
