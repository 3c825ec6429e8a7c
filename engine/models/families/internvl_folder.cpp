#include "engine/models/families/internvl_folder.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "engine/base/error.h"
#include "engine/models/config/config_fields.h"
#include "engine/models/config/picture_config.h"

namespace winnow {
namespace {

constexpr std::int64_t kInternvlMostScale = 16;
constexpr std::int64_t kMostPatchesPerSide = 256;
constexpr std::int64_t kMostPixelsOfAnImage = std::int64_t{64} << 20;  // of all tiles together
constexpr std::int64_t kInternvlDefaultImageToken = 151'667;
constexpr std::int64_t kDefaultImageTokens = 256;

// Names that transformers writes, and those of folders saved with its version 4.
constexpr std::array<WeightNameRule, 12> kInternvlNameRules = {{
    {"language_model.model.", "text.model."},
    {"language_model.lm_head.", "text.lm_head."},
    {"model.language_model.", "text.model."},
    {"lm_head.", "text.lm_head."},
    {"vision_tower.", "tower."},
    {"model.vision_tower.", "tower."},
    {"multi_modal_projector.layer_norm.", "projector.norm."},
    {"multi_modal_projector.linear_1.", "projector.first."},
    {"multi_modal_projector.linear_2.", "projector.second."},
    {"model.multi_modal_projector.layer_norm.", "projector.norm."},
    {"model.multi_modal_projector.linear_1.", "projector.first."},
    {"model.multi_modal_projector.linear_2.", "projector.second."},
}};

VitNames internvl_tower_names(bool query_key_norm) {
  VitNames names;
  names.patch_embedding = "embeddings.patch_embeddings.projection";
  names.class_token = "embeddings.cls_token";
  names.positions = "embeddings.position_embeddings";
  names.layers = "encoder.layer.";
  names.attention_norm = "layernorm_before";
  names.query = "attention.q_proj";
  names.key = "attention.k_proj";
  names.value = "attention.v_proj";
  if (query_key_norm) {
    names.query_norm = "attention.q_norm";
    names.key_norm = "attention.k_norm";
  }
  names.output = "attention.projection_layer";
  names.attention_scale = "lambda_1";
  names.mlp_norm = "layernorm_after";
  names.mlp_scale = "lambda_2";
  return names;
}

Json internvl_vision_defaults() {
  return {{"hidden_size", 1024},       {"intermediate_size", 4096}, {"num_hidden_layers", 24},
          {"num_attention_heads", 16}, {"image_size", 448},         {"patch_size", 14}};
}

// [height, width] of the same number, as that number.
void make_one_number(Json& vision, const char* key, const std::string& file) {
  const Json& value = vision.at(key);
  if (!value.is_array()) return;
  const JsonObject object(vision, file, "vision_config");
  if (value.size() != 2) object.refuse(ErrorCode::kDamagedFile, key, "it must be one number or two");
  if (value[0] != value[1]) unsupported(object, key, "the vision tower takes squares");
  vision[key] = Json(value[0]);
}

VitConfig internvl_read_tower(const JsonObject& root, const std::string& file) {
  Json document = completed_object(root, "vision_config", internvl_vision_defaults());
  for (const char* key : {"image_size", "patch_size"}) make_one_number(document, key, file);
  const JsonObject vision(document, file, "vision_config");
  VitConfig tower = parse_vit_config(vision, "internvl_vision");
  require_model_type(vision, "internvl_vision", true);
  if (!vision.boolean("use_absolute_position_embeddings", true))
    unsupported(vision, "use_absolute_position_embeddings", "a tower without a table of positions is not implemented");
  tower.rms_norms = read_rms_norms(vision, "layer_norm");
  tower.attention_bias = vision.boolean("attention_bias", false);
  tower.batched_tables = true;
  tower.names = internvl_tower_names(vision.boolean("use_qk_norm", false));
  return tower;
}

PictureRules internvl_read_rules(const JsonObject& object) {
  if (!object.boolean("do_resize", true)) unsupported(object, "do_resize", "pictures that are not resized do not fit the vision tower");
  if (object.boolean("do_center_crop", false)) unsupported(object, "do_center_crop", "cut-out centres of pictures are not implemented");
  PictureRules rules;
  if (object.has("size")) {
    const JsonObject size = object.object("size");
    if (!size.has("height") || !size.has("width")) unsupported(object, "size", "only height and width are implemented");
    rules.size = {size.integer("height", 1, kMaxProcessedSidePx), size.integer("width", 1, kMaxProcessedSidePx)};
    if (rules.size.height_px != rules.size.width_px) unsupported(object, "size", "the vision tower takes squares");
  }
  rules.filter = read_resample_filter(object);
  rules.scaling = read_pixel_scaling(object);
  return rules;
}

constexpr const char* kInternvlBegin = "<img>";
constexpr const char* kInternvlImage = "<IMG_CONTEXT>";
constexpr const char* kInternvlEnd = "</img>";

std::int64_t internvl_id_of(const Tokenizer& tokenizer, const char* token, const std::string& file) {
  return special_token_id(tokenizer, token, "an InternVL", file);
}

}  // namespace

bool read_rms_norms(const JsonObject& vision, const char* fallback) {
  const std::string norm = vision.string("norm_type", kMaxNameBytes, fallback);
  if (norm != "layer_norm" && norm != "rms_norm")
    unsupported(vision, "norm_type", quoted_name(norm) + " is neither layer_norm nor rms_norm");
  return norm == "rms_norm";
}

std::int64_t read_downsampling(const JsonObject& root) {
  const double ratio = root.real("downsample_ratio", 1.0 / static_cast<double>(kInternvlMostScale), 1.0, 0.5);
  const auto scale = static_cast<std::int64_t>(std::llround(1.0 / ratio));
  // transformers divides by the ratio again and again, which other fractions do not survive.
  if (static_cast<double>(scale) * ratio != 1.0 || (scale & (scale - 1)) != 0)
    unsupported(root, "downsample_ratio", "only 1, 1/2, 1/4, 1/8 and 1/16 are implemented");
  return scale;
}

std::int64_t read_feature_state(const JsonObject& root, const char* key, std::int64_t layers) {
  if (root.has(key) && root.value(key).is_array()) unsupported(root, key, "states of several layers are not implemented");
  const std::int64_t layer = root.integer(key, -layers - 1, layers, -1);
  return layer < 0 ? layers + 1 + layer : layer;
}

void require_tiles_fit(const JsonObject& object, const char* key, const TileBounds& tiles) {
  if ((tiles.most + 1) * tiles.side_px * tiles.side_px > kMostPixelsOfAnImage)
    object.refuse(ErrorCode::kLimitExceeded, key, "tiles of more than 64 Mpx together");
}

void place_pictures(InternVlConfig& config, std::int64_t side_px, const std::string& subject) {
  VitConfig& vision = config.vision;
  vision.position_side = vision.patches_per_side;
  vision.image_size_px = side_px;
  vision.patches_per_side = side_px / vision.patch_size_px;
  if (vision.patches_per_side < 1 || vision.patches_per_side > kMostPatchesPerSide || vision.patches_per_side % config.scale != 0) {
    throw Exception(ErrorCode::kDamagedFile, subject,
                    std::to_string(side_px) + " px are no patches of " + std::to_string(vision.patch_size_px) + " px that " +
                        std::to_string(config.scale) + " (1 / downsample_ratio) divides");
  }
}

InternVlConfig parse_internvl_config(const Json& document, const std::string& file) {
  const JsonObject root(document, file);
  require_model_type(root, "internvl", true);
  InternVlConfig config;
  config.text = parse_decoder_config(root.object("text_config"), "qwen2");
  config.text.tie_word_embeddings = config.text.tie_word_embeddings || root.boolean("tie_word_embeddings", true);
  config.vision = internvl_read_tower(root, file);
  config.scale = read_downsampling(root);
  config.feature_state = read_feature_state(root, "vision_feature_layer", config.vision.layers);
  const bool named_last = root.integer("vision_feature_layer", -config.vision.layers - 1, config.vision.layers, -1) == -1;
  const bool mean_pooling = !root.has("vision_config") || root.object("vision_config").boolean("use_mean_pooling", true);
  config.last_norm = named_last && !mean_pooling;
  const std::string strategy = root.string("vision_feature_select_strategy", kMaxNameBytes, "default");
  if (strategy != "default") unsupported(root, "vision_feature_select_strategy", quoted_name(strategy) + " leaves no square of features");
  config.projector_activation = read_activation(root, "projector_hidden_act", "gelu");
  config.image_token_id = read_media_token(root, {"image_token_id"}, kInternvlDefaultImageToken, config.text.vocabulary);
  return config;
}

InternVlPixels parse_internvl_image_processor(const JsonObject& object) {
  const std::string type = object.string("image_processor_type", kMaxNameBytes, "GotOcr2ImageProcessor");
  if (type != "GotOcr2ImageProcessor" && type != "GotOcr2ImageProcessorFast")
    unsupported(object, "image_processor_type", quoted_name(type) + " is not an image processor of this family");
  InternVlPixels pixels;
  pixels.image = internvl_read_rules(object);
  pixels.tiles.side_px = pixels.image.size.height_px;
  pixels.tiles.least = object.integer("min_patches", 1, kMostTilesOfAnImage, 1);
  pixels.tiles.most = object.integer("max_patches", 1, kMostTilesOfAnImage, 12);
  if (pixels.tiles.least > pixels.tiles.most) object.refuse(ErrorCode::kDamagedFile, "min_patches", "it is over max_patches");
  require_tiles_fit(object, "max_patches", pixels.tiles);
  return pixels;
}

PictureRules parse_internvl_video_processor(const JsonObject& object) { return internvl_read_rules(object); }

InternVlFolder read_internvl(const ModelPackage& package) {
  const ModelDocument& config = package.required(ModelPart::kConfig);
  InternVlFolder folder{.model = parse_internvl_config(config.content, config.subject), .names = kInternvlNameRules};
  const ProcessorDocuments documents = processor_documents(package);
  folder.pixels = parse_internvl_image_processor(required_image(documents.image, package));
  folder.pixels.video = parse_internvl_video_processor(documents.video ? *documents.video : *documents.image);
  if (folder.pixels.video.size != folder.pixels.image.size)
    throw Exception(ErrorCode::kDamagedFile, package.subject(ModelPart::kVideoProcessor) + ": size", "it differs from the images'");
  place_pictures(folder.model, folder.pixels.tiles.side_px, package.subject(ModelPart::kImageProcessor) + ": size");
  const ModelDocument* processor = package.document(ModelPart::kProcessor);
  const std::int64_t tokens =
      processor == nullptr ? kDefaultImageTokens : processor->root().integer("image_seq_length", 1, 1'000'000, kDefaultImageTokens);
  if (tokens != folder.side() * folder.side()) {
    throw Exception(ErrorCode::kDamagedFile, package.subject(ModelPart::kProcessor) + ": image_seq_length",
                    std::to_string(tokens) + " is not the number of a tile's tokens, " + std::to_string(folder.side() * folder.side()));
  }
  return folder;
}

InternVlTokens::InternVlTokens(std::shared_ptr<const Tokenizer> tokenizer, std::int64_t side, const std::string& file)
    : tokenizer_(std::move(tokenizer)),
      side_(side),
      begin_(internvl_id_of(*tokenizer_, kInternvlBegin, file)),
      image_(internvl_id_of(*tokenizer_, kInternvlImage, file)),
      end_(internvl_id_of(*tokenizer_, kInternvlEnd, file)) {
  require(side > 0, "a tile has tokens");
}

MediumTokens InternVlTokens::image(const TileCount& grid, bool thumbnail) const {
  MediumTokens tokens;
  const bool cut = grid.tiles() > 1;
  const bool whole = !cut || thumbnail;
  tokens.add_words(std::array{begin_}, cut ? 1 : 0);
  for (std::int64_t tile = 0; cut && tile < grid.tiles(); ++tile)
    tokens.add_square({side_, 1 + tile, tile / grid.columns * side_, tile % grid.columns * side_}, image_);
  if (whole) tokens.add_square({side_}, image_);
  tokens.add_words(std::array{end_}, whole ? 0 : grid.tiles());
  return tokens;
}

MediumTokens InternVlTokens::frames(const MediaFacts& facts) const {
  MediumTokens tokens;
  for (std::int64_t frame = 0; frame < facts.frames; ++frame) {
    const std::int64_t number = facts.frames_before + frame + 1;
    if (number > 1) tokens.add_words(number_line(number), frame);
    tokens.add_words(std::array{begin_}, frame);
    tokens.add_square({side_, frame}, image_);
    tokens.add_words(std::array{end_}, frame);
  }
  return tokens;
}

std::vector<std::int64_t> InternVlTokens::number_line(std::int64_t number) const {
  // Between its neighbours: some tokenizers put something before a text that has none.
  std::vector<std::int64_t> ids = tokenizer_->encode(kInternvlEnd + ("\nFrame" + std::to_string(number) + ": ") + kInternvlBegin,
                                                     SpecialText::kParse, TextStart::kAfterToken);
  const auto begin = std::ranges::find(ids, end_);
  require(begin != ids.end() && ids.back() == begin_, "special tokens are found in a text");
  return {begin + 1, ids.end() - 1};
}

}  // namespace winnow
