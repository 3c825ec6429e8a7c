#include "engine/models/families/gemma3_folder.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "engine/base/error.h"
#include "engine/models/config/config_fields.h"
#include "engine/models/config/picture_config.h"
#include "engine/models/families/gemma3_text_config.h"

namespace winnow {
namespace {

constexpr std::int64_t kDefaultTokens = 256;
constexpr std::int64_t kMostTokens = 65'536;
constexpr std::int64_t kGemma3DefaultImageToken = 262'144;
constexpr std::int64_t kMostCropPx = 16'384;
constexpr double kMostRatio = 1000.0;
constexpr PixelScaling kGemma3Scaling = {.mean = {0.5, 0.5, 0.5}, .standard_deviation = {0.5, 0.5, 0.5}};

// SiglipVisionConfig's.
Json gemma3_vision_defaults() {
  return {{"hidden_size", 768},        {"intermediate_size", 3072}, {"num_hidden_layers", 12},
          {"num_attention_heads", 12}, {"image_size", 224},         {"patch_size", 16}};
}

// Tokens along a side, of whose number the patches' is a multiple, but for a rest that pooling leaves out.
std::int64_t read_side(const JsonObject& root, const VitConfig& vision) {
  const std::int64_t tokens = root.integer("mm_tokens_per_image", 1, kMostTokens, kDefaultTokens);
  const auto side = static_cast<std::int64_t>(std::sqrt(static_cast<double>(tokens)));
  const std::int64_t patches = vision.patches_per_side;
  if (side * side != tokens) root.refuse(ErrorCode::kDamagedFile, "mm_tokens_per_image", "it is no square");
  if (patches < side || patches / (patches / side) != side) {
    root.refuse(ErrorCode::kDamagedFile, "mm_tokens_per_image",
                std::to_string(patches) + " patches a side cannot be pooled to " + std::to_string(side));
  }
  return side;
}

CropRules read_crops(const JsonObject& object, std::int64_t side_px) {
  constexpr std::int64_t kMostPixels = std::int64_t{64} << 20;  // of all squares together
  CropRules crops;
  crops.wanted = object.boolean("do_pan_and_scan", false);
  crops.least_px = object.integer("pan_and_scan_min_crop_size", 1, kMostCropPx, crops.least_px);
  crops.most = object.integer("pan_and_scan_max_num_crops", 1, kMostCropsOfAnImage, crops.most);
  crops.least_ratio = object.real("pan_and_scan_min_ratio_to_activate", 0.0, kMostRatio, crops.least_ratio);
  if (crops.wanted && (crops.most + 1) * side_px * side_px > kMostPixels)
    object.refuse(ErrorCode::kLimitExceeded, "pan_and_scan_max_num_crops", "crops of more than 64 Mpx together");
  return crops;
}

void require_sizes_agree(const Gemma3Folder& folder, const ModelPackage& package) {
  const std::int64_t side_px = folder.pixels.image.size.height_px;
  if (side_px != folder.model.vision.image_size_px) {
    throw Exception(ErrorCode::kDamagedFile, package.subject(ModelPart::kImageProcessor) + ": size",
                    std::to_string(side_px) + " px, and the vision tower takes " + std::to_string(folder.model.vision.image_size_px));
  }
  const ModelDocument* processor = package.document(ModelPart::kProcessor);
  const std::int64_t of_picture = folder.model.side * folder.model.side;
  const std::int64_t tokens =
      processor == nullptr ? kDefaultTokens : processor->root().integer("image_seq_length", 1, kMostTokens, kDefaultTokens);
  if (tokens != of_picture) {
    throw Exception(ErrorCode::kDamagedFile, package.subject(ModelPart::kProcessor) + ": image_seq_length",
                    std::to_string(tokens) + " is not the number of a picture's tokens, " + std::to_string(of_picture));
  }
}

std::int64_t divided_up(std::int64_t length, std::int64_t parts) { return (length + parts - 1) / parts; }

// Along the longer side; 0: none.
std::int64_t crops_along(std::int64_t longer, std::int64_t shorter, const CropRules& rules) {
  const double ratio = static_cast<double>(longer) / static_cast<double>(shorter);
  if (ratio < rules.least_ratio) return 0;
  const auto shaped = static_cast<std::int64_t>(std::floor(ratio + 0.5));
  const std::int64_t count = std::min(std::max<std::int64_t>(2, std::min(longer / rules.least_px, shaped)), rules.most);
  const std::int64_t length = divided_up(longer, count);
  if (std::min(length, shorter) < rules.least_px) return 0;
  return divided_up(longer, length);  // of crops of a few pixels the last ones can be empty, where transformers fails
}

constexpr const char* kGemma3Begin = "<start_of_image>";
constexpr const char* kGemma3Image = "<image_soft_token>";
constexpr const char* kGemma3End = "<end_of_image>";
constexpr std::string_view kEmptyLine = "\n\n";
constexpr std::string_view kBeforeCrops = " and here are some crops to help you see better ";

std::int64_t gemma3_id_of(const Tokenizer& tokenizer, const char* token, const std::string& file) {
  return special_token_id(tokenizer, token, "a Gemma 3", file);
}

}  // namespace

Gemma3Config parse_gemma3_vision_config(const Json& document, const std::string& file) {
  const JsonObject root(document, file);
  require_model_type(root, "gemma3", true);
  const Json text = completed_object(root, "text_config", Json::object());
  const JsonObject text_object(text, file, "text_config");
  require_model_type(text_object, "gemma3_text", true);
  Gemma3Config config;
  config.text = parse_gemma3_config(text_object);
  config.text.logit_cap = 0.0;  // final_logit_softcapping is left aside by transformers' class
  config.text.tie_word_embeddings = root.boolean("tie_word_embeddings", true);
  const Json vision = completed_object(root, "vision_config", gemma3_vision_defaults());
  const JsonObject vision_object(vision, file, "vision_config");
  require_model_type(vision_object, "siglip_vision_model", true);
  config.vision = parse_vit_config(vision_object, "siglip_vision_model");
  config.side = read_side(root, config.vision);
  config.image_token_id = read_media_token(root, {"image_token_index", "image_token_id"}, kGemma3DefaultImageToken, config.text.vocabulary);
  return config;
}

Gemma3Pixels parse_gemma3_image_processor(const JsonObject& object) {
  const std::string type = object.string("image_processor_type", kMaxNameBytes, "");
  if (!type.empty() && type != "Gemma3ImageProcessor" && type != "Gemma3ImageProcessorFast")
    unsupported(object, "image_processor_type", quoted_name(type) + " is not an image processor of this family");
  if (!object.boolean("do_resize", true)) unsupported(object, "do_resize", "pictures that are not resized do not fit the vision tower");
  Gemma3Pixels pixels{.image = {.size = {224, 224}}};
  if (object.has("size")) {
    const JsonObject size = object.object("size");
    if (!size.has("height") || !size.has("width")) unsupported(object, "size", "only height and width are implemented");
    pixels.image.size = {size.integer("height", 1, kMaxProcessedSidePx), size.integer("width", 1, kMaxProcessedSidePx)};
    if (pixels.image.size.height_px != pixels.image.size.width_px) unsupported(object, "size", "the vision tower takes squares");
  }
  pixels.image.filter = object.has("resample") ? read_resample_filter(object) : ResampleFilter::kBilinear;
  pixels.image.scaling = read_pixel_scaling(object, kGemma3Scaling);
  pixels.image.arithmetic = type.empty() ? ResizeArithmetic::kPillow : ResizeArithmetic::kTorch;
  pixels.crops = read_crops(object, pixels.image.size.height_px);
  return pixels;
}

Gemma3Folder read_gemma3(const ModelPackage& package) {
  const ModelDocument& config = package.required(ModelPart::kConfig);
  Gemma3Folder folder{.model = parse_gemma3_vision_config(config.content, config.subject)};
  const ProcessorDocuments documents = processor_documents(package);
  folder.pixels = parse_gemma3_image_processor(required_image(documents.image, package));
  require_sizes_agree(folder, package);
  return folder;
}

CropGrid crops_of(PixelSize picture, const CropRules& rules) {
  CropGrid grid;
  if (!rules.wanted || picture.height_px <= 0 || picture.width_px <= 0) return grid;
  const bool lies = picture.width_px >= picture.height_px;
  const std::int64_t count =
      lies ? crops_along(picture.width_px, picture.height_px, rules) : crops_along(picture.height_px, picture.width_px, rules);
  if (count == 0) return grid;
  grid.rows = lies ? 1 : count;
  grid.columns = lies ? count : 1;
  grid.crop = {divided_up(picture.height_px, grid.rows), divided_up(picture.width_px, grid.columns)};
  return grid;
}

Gemma3Tokens::Gemma3Tokens(std::shared_ptr<const Tokenizer> tokenizer, std::int64_t side, const std::string& file)
    : tokenizer_(std::move(tokenizer)),
      side_(side),
      begin_(gemma3_id_of(*tokenizer_, kGemma3Begin, file)),
      image_(gemma3_id_of(*tokenizer_, kGemma3Image, file)),
      end_(gemma3_id_of(*tokenizer_, kGemma3End, file)) {
  require(side > 0, "a picture has tokens");
}

void Gemma3Tokens::add_picture(MediumTokens& tokens, const TokenSquare& square) const {
  tokens.add_words(std::array{begin_}, square.frame);
  tokens.add_square(square, image_);
  tokens.add_words(std::array{end_}, square.frame);
}

MediumTokens Gemma3Tokens::image(const CropGrid& grid) const {
  MediumTokens tokens;
  add_picture(tokens, {side_});
  for (std::int64_t crop = 0; crop < grid.crops(); ++crop) {
    tokens.add_words(between(crop == 0 ? kBeforeCrops : " "), 1 + crop);
    add_picture(tokens, {side_, 1 + crop, crop / grid.columns * side_, crop % grid.columns * side_});
  }
  return tokens;
}

TextAround Gemma3Tokens::around(const CropGrid& grid) const {
  const std::string before = grid.crops() > 0 ? "Here is the original image " : "";
  return {before + std::string(kEmptyLine), std::string(kEmptyLine)};
}

std::vector<std::int64_t> Gemma3Tokens::between(std::string_view words) const {
  // Between its neighbours: some tokenizers put something before a text that has none.
  std::string text = kGemma3End;
  text.append(kEmptyLine).append(words).append(kEmptyLine).append(kGemma3Begin);
  const std::vector<std::int64_t> ids = tokenizer_->encode(text, SpecialText::kParse, TextStart::kAfterToken);
  const auto end = std::ranges::find(ids, end_);
  require(end != ids.end() && ids.back() == begin_, "special tokens are found in a text");
  return {end + 1, ids.end() - 1};
}

}  // namespace winnow
