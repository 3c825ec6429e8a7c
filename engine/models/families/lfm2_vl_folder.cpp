#include "engine/models/families/lfm2_vl_folder.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/base/error.h"
#include "engine/models/config/config_fields.h"
#include "engine/models/config/picture_config.h"
#include "engine/models/families/lfm2_text_config.h"

namespace winnow {
namespace {

constexpr std::int64_t kMostMerge = 8;
constexpr std::int64_t kLfm2VlMostPatchPx = 64;
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
  const std::int64_t patch_px = vision.integer("patch_size", 1, kLfm2VlMostPatchPx);
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
  Lfm2VlConfig config{.text = parse_lfm2_config(root.object("text_config"))};
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

void lfm2_vl_read_tiles(const JsonObject& object, Lfm2PictureRules& rules) {
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
  rules.patch_px = object.integer("encoder_patch_size", 1, kLfm2VlMostPatchPx, rules.patch_px);
  require_model_says_so(object, "encoder_patch_size", rules.patch_px, model.vision.patch_size_px);
  rules.merge = object.integer("downsample_factor", 1, kMostMerge, rules.merge);
  require_model_says_so(object, "downsample_factor", rules.merge, model.merge);
  rules.least_tokens = object.integer("min_image_tokens", 1, kMostPictureTokens, rules.least_tokens);
  rules.most_tokens = object.integer("max_image_tokens", 1, kMostPictureTokens, rules.most_tokens);
  if (rules.least_tokens > rules.most_tokens)
    object.refuse(ErrorCode::kDamagedFile, "min_image_tokens", "it is more than max_image_tokens");
  rules.tolerance = object.real("max_pixels_tolerance", 0.0, kMostTolerance, rules.tolerance);
  lfm2_vl_read_tiles(object, rules);
  if (object.has("resample")) rules.filter = read_resample_filter(object);
  rules.scaling = read_pixel_scaling(object, kStandardScaling);
  return rules;
}

// Python's round(length / unit): halves go to the even number.
std::int64_t nearest_units(std::int64_t length, std::int64_t unit) {
  return std::llrint(static_cast<double>(length) / static_cast<double>(unit));
}

std::int64_t floor_units(double length, std::int64_t unit) {
  return static_cast<std::int64_t>(std::floor(length / static_cast<double>(unit)));
}

PixelSize native_size(PixelSize source, const Lfm2PictureRules& rules) {
  const std::int64_t cell = rules.cell_px();
  const auto height = static_cast<double>(source.height_px);
  const auto width = static_cast<double>(source.width_px);
  const auto at_least_one = [&](std::int64_t cells) { return std::max<std::int64_t>(1, cells) * cell; };
  const std::int64_t least_px = rules.least_tokens * cell * cell;
  const std::int64_t most_px = rules.most_tokens * cell * cell;
  const PixelSize size{at_least_one(nearest_units(source.height_px, cell)), at_least_one(nearest_units(source.width_px, cell))};
  if (size.height_px * size.width_px > most_px) {
    const double beta = std::sqrt(height * width / static_cast<double>(most_px));
    return {at_least_one(floor_units(height / beta, cell)), at_least_one(floor_units(width / beta, cell))};
  }
  if (size.height_px * size.width_px < least_px) {
    const double beta = std::sqrt(static_cast<double>(least_px) / (height * width));
    const auto up = [&](double length) { return static_cast<std::int64_t>(std::ceil(length * beta / static_cast<double>(cell))) * cell; };
    return {up(height), up(width)};
  }
  return size;
}

bool too_large(PixelSize source, const Lfm2PictureRules& rules) {
  const auto side = [&](std::int64_t length) { return std::max(rules.patch_px, nearest_units(length, rules.cell_px()) * rules.cell_px()); };
  const std::int64_t most_px = rules.most_tokens * rules.cell_px() * rules.cell_px();
  return static_cast<double>(side(source.height_px) * side(source.width_px)) > static_cast<double>(most_px) * rules.tolerance;
}

constexpr const char* kPictureStart = "<|image_start|>";
constexpr const char* kPictureEnd = "<|image_end|>";
constexpr const char* kThumbnail = "<|img_thumbnail|>";

std::string name_of_tile(std::int64_t row, std::int64_t column) {
  return "<|img_row_" + std::to_string(row + 1) + "_col_" + std::to_string(column + 1) + "|>";
}

}  // namespace

Lfm2VlFolder read_lfm2_vl(const ModelPackage& package) {
  const ModelDocument& config = package.required(ModelPart::kConfig);
  Lfm2VlFolder folder;
  folder.model = parse_lfm2_vl(config.root(), config.subject);
  folder.pictures = read_pictures(required_image(processor_documents(package).image, package), folder.model);
  return folder;
}

Lfm2PicturePlan lfm2_picture_plan(PixelSize source, const Lfm2PictureRules& rules) {
  require(source.height_px > 0 && source.width_px > 0 && rules.cell_px() > 0 && rules.least_tokens > 0 &&
              rules.least_tokens <= rules.most_tokens,
          "a picture needs bounds");
  Lfm2PicturePlan plan{native_size(source, rules), {}, rules.tiles.thumbnail};
  if (rules.cuts() && too_large(source, rules)) plan.tiles = closest_tiles(source, rules.tiles);
  return plan;
}

std::int64_t tokens_of_plan(const Lfm2PicturePlan& plan, const Lfm2PictureRules& rules) {
  constexpr std::int64_t kName = Lfm2PictureRules::kName;
  const std::int64_t cell_px = rules.cell_px();
  const std::int64_t whole = plan.has_whole() ? plan.whole.height_px / cell_px * (plan.whole.width_px / cell_px) : 0;
  const std::int64_t cut = plan.cut() ? plan.tiles.tiles() * (rules.tile_tokens() + kName) + (plan.thumbnail ? kName : 0) : 0;
  return Lfm2PictureRules::kMarks + cut + whole;
}

std::int64_t most_tokens_of_tiles(std::int64_t tiles, const Lfm2PictureRules& rules) {
  constexpr std::int64_t kName = Lfm2PictureRules::kName;
  const std::int64_t thumbnail = rules.tiles.thumbnail ? rules.most_tokens + kName : 0;
  return Lfm2PictureRules::kMarks + tiles * (rules.tile_tokens() + kName) + thumbnail;
}

Lfm2PictureRules of_at_most(std::int64_t tokens, PixelSize source, Lfm2PictureRules rules) {
  if (tokens == 0) return rules;
  const auto fits = [&] { return tokens_of_plan(lfm2_picture_plan(source, rules), rules) <= tokens; };
  const std::int64_t inside = tokens - Lfm2PictureRules::kMarks;
  while (rules.cuts() && most_tokens_of_tiles(rules.tiles.most, rules) > tokens) --rules.tiles.most;
  rules.tiles.least = std::min(rules.tiles.least, rules.tiles.most);
  if (rules.cuts() && inside >= rules.most_tokens && fits()) return rules;
  rules.tiles.least = rules.tiles.most = 1;
  // A strip takes more cells than its bound until that is small enough.
  for (std::int64_t most = std::clamp<std::int64_t>(inside, 1, rules.most_tokens); most >= 1; --most) {
    if (most < rules.most_tokens) rules.least_tokens = std::min(rules.least_tokens, std::max<std::int64_t>(1, most / 4));
    rules.most_tokens = most;
    if (fits()) break;
  }
  return rules;
}

Lfm2PictureTokens::Lfm2PictureTokens(std::shared_ptr<const Tokenizer> tokenizer, std::int64_t image_token_id, const std::string& file)
    : tokenizer_(std::move(tokenizer)), image_(image_token_id) {
  require(tokenizer_ != nullptr, "picture tokens need a tokenizer");
  for (const char* const word : {kPictureStart, kPictureEnd}) special_token_id(*tokenizer_, word, "an LFM2-VL", file);
}

void Lfm2PictureTokens::add_mark(MediumTokens& tokens, const std::string& word, std::int64_t frame) const {
  tokens.add_words(tokenizer_->encode(word, SpecialText::kParse, TextStart::kAfterToken), frame);
}

MediumTokens Lfm2PictureTokens::image(const Lfm2PicturePlan& plan, const Lfm2PictureRules& rules) const {
  MediumTokens tokens;
  const std::int64_t side = rules.tile_side();
  const TileCount& grid = plan.tiles;
  add_mark(tokens, kPictureStart, plan.cut() ? 1 : 0);
  for (std::int64_t tile = 0; plan.cut() && tile < grid.tiles(); ++tile) {
    const std::int64_t row = tile / grid.columns;
    const std::int64_t column = tile % grid.columns;
    add_mark(tokens, name_of_tile(row, column), 1 + tile);
    tokens.add_square({side, 1 + tile, row * side, column * side}, image_);
  }
  if (plan.has_whole()) {
    if (plan.cut()) add_mark(tokens, kThumbnail, 0);
    for (std::int64_t row = 0; row < plan.whole.height_px / rules.cell_px(); ++row)
      tokens.add_row({row, plan.whole.width_px / rules.cell_px()}, image_);
  }
  add_mark(tokens, kPictureEnd, plan.has_whole() ? 0 : grid.tiles());
  return tokens;
}

}  // namespace winnow
