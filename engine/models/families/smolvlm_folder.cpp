#include "engine/models/families/smolvlm_folder.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "engine/base/error.h"
#include "engine/models/config/config_fields.h"
#include "engine/models/config/picture_config.h"

namespace winnow {
namespace {

constexpr std::int64_t kSmolvlmMostScale = 16;
constexpr std::int64_t kMostEdgePx = 16'384;
constexpr std::int64_t kMostTilePx = 4096;
constexpr std::int64_t kDefaultTilePx = 364;
constexpr std::int64_t kSmolvlmDefaultImageToken = 128'257;
constexpr PixelScaling kSmolvlmScaling = {.mean = {0.5, 0.5, 0.5}, .standard_deviation = {0.5, 0.5, 0.5}};

// LlamaConfig's, where the text model is one; of a folder without text_config, Idefics3Config's.
Json text_defaults(const JsonObject& root) {
  Json defaults = {{"vocab_size", 32'000},    {"hidden_size", 4096},       {"intermediate_size", 11'008},
                   {"num_hidden_layers", 32}, {"num_attention_heads", 32}, {"max_position_embeddings", 2048},
                   {"rms_norm_eps", 1e-6}};
  const std::optional<JsonObject> text = root.optional_object("text_config");
  if (!text) defaults["rms_norm_eps"] = 1e-5;
  return !text || text->string("model_type", kMaxNameBytes, "llama") == "llama" ? defaults : Json::object();
}

Json smolvlm_vision_defaults() {
  return {{"hidden_size", 1152},       {"intermediate_size", 3072}, {"num_hidden_layers", 12},
          {"num_attention_heads", 16}, {"image_size", 224},         {"patch_size", 32}};
}

std::int64_t read_longest_edge(const JsonObject& object, const char* key, std::int64_t most, std::int64_t fallback) {
  if (!object.has(key)) return fallback;
  const JsonObject size = object.object(key);
  if (!size.has("longest_edge")) unsupported(object, key, "only a longest_edge is implemented");
  return size.integer("longest_edge", 1, most);
}

// The filter that Pillow and torchvision use for Pillow's number.
ResampleFilter read_filter(const JsonObject& object, PixelLibrary library) {
  const std::int64_t number = object.integer("resample", 0, 5, static_cast<int>(ResampleFilter::kLanczos));
  constexpr std::array kKnown = {ResampleFilter::kLanczos, ResampleFilter::kBilinear, ResampleFilter::kBicubic};
  const auto* found = std::ranges::find(kKnown, number, [](ResampleFilter filter) { return static_cast<std::int64_t>(filter); });
  if (found == kKnown.end()) unsupported(object, "resample", "only Lanczos (1), bilinear (2) and bicubic (3) resizing are implemented");
  return *found == ResampleFilter::kLanczos && library == PixelLibrary::kTorchvision ? ResampleFilter::kBicubic : *found;
}

SmolVlmPixels smolvlm_read_common(const JsonObject& object, PixelLibrary library) {
  if (!object.boolean("do_resize", true)) unsupported(object, "do_resize", "pictures that are not resized do not fit the vision tower");
  SmolVlmPixels pixels;
  pixels.library = library;
  pixels.tiles.longest_edge_px = read_longest_edge(object, "size", kMostEdgePx, pixels.tiles.longest_edge_px);
  pixels.tiles.side_px = read_longest_edge(object, "max_image_size", kMostTilePx, kDefaultTilePx);
  pixels.filter = read_filter(object, library);
  pixels.scaling = read_pixel_scaling(object, kSmolvlmScaling);
  return pixels;
}

SmolVlmProcessorConfig read_processor(const ModelPackage& package) {
  const ModelDocument* processor = package.document(ModelPart::kProcessor);
  const ModelDocument* image = package.document(ModelPart::kImageProcessor);
  const ModelDocument* video = package.document(ModelPart::kVideoProcessor);
  SmolVlmProcessorConfig config;
  std::optional<JsonObject> of_images;
  std::optional<JsonObject> of_videos;
  if (processor != nullptr) {
    const JsonObject root = processor->root();
    of_images = root.optional_object("image_processor");
    of_videos = root.optional_object("video_processor");
    config.image_tokens = root.integer("image_seq_len", 1, 1'000'000, config.image_tokens);
  }
  const std::optional<JsonObject> nested_images = of_images;
  if (!of_images && image != nullptr) of_images = image->root();
  const JsonObject& images = required_image(of_images, package);
  if (!of_videos && video != nullptr) of_videos = video->root();
  if (!of_videos) of_videos = image != nullptr ? image->root() : *nested_images;
  config.image = parse_smolvlm_image_processor(images);
  config.video = parse_smolvlm_video_processor(*of_videos);
  return config;
}

constexpr std::int64_t kMostTiles = 1024;

std::int64_t tiles_over(std::int64_t length, std::int64_t side) { return (length + side - 1) / side; }

// Python's int(length / ratio) and int(length * ratio).
std::int64_t divided(std::int64_t length, double ratio) { return static_cast<std::int64_t>(static_cast<double>(length) / ratio); }
std::int64_t multiplied(std::int64_t length, double ratio) { return static_cast<std::int64_t>(static_cast<double>(length) * ratio); }

double ratio_of(PixelSize size) { return static_cast<double>(size.width_px) / static_cast<double>(size.height_px); }

PixelSize below_upper_bound(PixelSize size) {
  const double ratio = ratio_of(size);
  if (size.width_px >= size.height_px && size.width_px > kMostPictureSidePx) {
    size = {divided(kMostPictureSidePx, ratio), kMostPictureSidePx};
  } else if (size.height_px > size.width_px && size.height_px > kMostPictureSidePx) {
    size = {kMostPictureSidePx, multiplied(kMostPictureSidePx, ratio)};
  }
  return {std::max<std::int64_t>(size.height_px, 1), std::max<std::int64_t>(size.width_px, 1)};
}

constexpr const char* kFake = "<fake_token_around_image>";
constexpr const char* kWholePicture = "<fake_token_around_image><global-img>";

std::string two_digits(std::int64_t number) { return std::string(number < 10 ? "0" : "").append(std::to_string(number)); }

std::string time_line(double time_s) {
  const auto seconds = static_cast<std::int64_t>(std::floor(time_s));
  return "\nFrame from " + two_digits(seconds / 60) + ":" + two_digits(seconds % 60) + ":";
}

// Python's str(timedelta(seconds=...)).
std::string clock(std::int64_t seconds) {
  const std::int64_t days = seconds / 86'400;
  const std::string lead = days == 0 ? "" : std::to_string(days) + (days == 1 ? " day, " : " days, ");
  return lead + std::to_string(seconds / 3600 % 24) + ":" + two_digits(seconds / 60 % 60) + ":" + two_digits(seconds % 60);
}

constexpr std::array<const char*, 20> kSmall = {"zero",     "one",     "two",     "three",     "four",     "five",    "six",
                                                "seven",    "eight",   "nine",    "ten",       "eleven",   "twelve",  "thirteen",
                                                "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"};
constexpr std::array<const char*, 10> kTens = {"", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"};

std::string below_hundred(std::int64_t number) {
  if (number < 20) return kSmall[static_cast<std::size_t>(number)];
  std::string words = kTens[static_cast<std::size_t>(number / 10)];
  if (number % 10 != 0) words.append("-").append(kSmall[static_cast<std::size_t>(number % 10)]);
  return words;
}

std::string below_thousand(std::int64_t number) {
  if (number < 100) return below_hundred(number);
  std::string words = std::string(kSmall[static_cast<std::size_t>(number / 100)]) + " hundred";
  if (number % 100 != 0) words += " and " + below_hundred(number % 100);
  return words;
}

}  // namespace

SmolVlmConfig parse_smolvlm_config(const Json& document, const std::string& file) {
  const JsonObject root(document, file);
  const std::string type = root.string("model_type", kMaxNameBytes);
  if (type != "idefics3" && type != "smolvlm") unsupported(root, "model_type", quoted_name(type) + " is neither idefics3 nor smolvlm");
  SmolVlmConfig config;
  const Json text = completed_object(root, "text_config", text_defaults(root));
  config.text = parse_decoder_config(JsonObject(text, file, "text_config"), "llama");
  config.text.tie_word_embeddings = config.text.tie_word_embeddings || root.boolean("tie_word_embeddings", false);
  Json vision = completed_object(root, "vision_config", smolvlm_vision_defaults());
  vision.erase("model_type");  // "idefics3", "idefics3_vision", "smolvlm_vision": all of them are this tower
  config.vision = parse_vit_config(JsonObject(vision, file, "vision_config"), "siglip_vision_model");
  config.scale_factor = root.integer("scale_factor", 1, kSmolvlmMostScale, config.scale_factor);
  config.image_token_id = root.integer("image_token_id", 0, kMaxVocabulary, kSmolvlmDefaultImageToken);
  if (config.image_token_id >= config.text.vocabulary) {
    root.refuse(
        ErrorCode::kDamagedFile, "image_token_id",
        "token " + std::to_string(config.image_token_id) + " is outside the vocabulary of " + std::to_string(config.text.vocabulary));
  }
  return config;
}

SmolVlmPixels parse_smolvlm_image_processor(const JsonObject& object) {
  constexpr std::string_view kFast = "Fast";
  const std::string type = object.string("image_processor_type", kMaxNameBytes, "SmolVLMImageProcessor");
  std::string_view base = type;
  if (base.ends_with(kFast)) base.remove_suffix(kFast.size());
  if (base != "SmolVLMImageProcessor" && base != "Idefics3ImageProcessor")
    unsupported(object, "image_processor_type", quoted_name(type) + " is not an image processor of this family");
  SmolVlmPixels pixels = smolvlm_read_common(object, base == type ? PixelLibrary::kPillow : PixelLibrary::kTorchvision);
  pixels.tiles.split = object.boolean("do_image_splitting", true);
  return pixels;
}

SmolVlmPixels parse_smolvlm_video_processor(const JsonObject& object) {
  SmolVlmPixels pixels = smolvlm_read_common(object, PixelLibrary::kTorchvision);
  pixels.tiles.split = false;
  const std::optional<JsonObject> sampling = object.optional_object("video_sampling");
  if (sampling && !object.has("size"))
    pixels.tiles.longest_edge_px = read_longest_edge(*sampling, "video_size", kMostEdgePx, pixels.tiles.longest_edge_px);
  pixels.tiles.longest_edge_px = std::min(pixels.tiles.longest_edge_px, kMostPictureSidePx);
  return pixels;
}

SmolVlmFolder read_smolvlm(const ModelPackage& package) {
  const ModelDocument& config = package.required(ModelPart::kConfig);
  SmolVlmFolder folder{.model = parse_smolvlm_config(config.content, config.subject), .processor = read_processor(package)};
  VitConfig& vision = folder.model.vision;
  const std::int64_t side_px = folder.processor.image.tiles.side_px;
  const auto refuse = [](const std::string& subject, const char* key, const std::string& reason) {
    throw Exception(ErrorCode::kDamagedFile, subject + ": " + key, reason);
  };
  if (folder.processor.video.tiles.side_px != side_px)
    refuse(package.subject(ModelPart::kVideoProcessor), "max_image_size", "it differs from the images'");
  vision.position_rows = vision.patches_per_side * vision.patches_per_side;
  vision.image_size_px = side_px;
  vision.patches_per_side = side_px / vision.patch_size_px;
  if (vision.patches_per_side < 1 || vision.patches_per_side > 256 || vision.patches_per_side % folder.model.scale_factor != 0) {
    refuse(package.subject(ModelPart::kImageProcessor), "max_image_size",
           std::to_string(side_px) + " px are no patches of " + std::to_string(vision.patch_size_px) + " px that scale_factor " +
               std::to_string(folder.model.scale_factor) + " divides");
  }
  const std::int64_t tokens = folder.side() * folder.side();
  if (folder.processor.image_tokens != tokens) {
    refuse(package.subject(ModelPart::kProcessor), "image_seq_len",
           std::to_string(folder.processor.image_tokens) + " is not the number of a picture's tokens, " + std::to_string(tokens));
  }
  return folder;
}

PixelSize size_of_longest_edge(PixelSize source, std::int64_t longest_px) {
  const double ratio = ratio_of(source);
  PixelSize size;
  if (source.width_px >= source.height_px) {
    size = {divided(longest_px, ratio), longest_px};
    size.height_px += size.height_px % 2;
  } else {
    size = {longest_px, multiplied(longest_px, ratio)};
    size.width_px += size.width_px % 2;
  }
  return below_upper_bound({std::max<std::int64_t>(size.height_px, 1), std::max<std::int64_t>(size.width_px, 1)});
}

TileGrid tile_grid(PixelSize source, const TileRules& rules) {
  require(source.height_px > 0 && source.width_px > 0 && rules.longest_edge_px > 0 && rules.side_px > 0, "tiles need sizes");
  const std::int64_t side = rules.side_px;
  TileGrid grid{.first = size_of_longest_edge(source, rules.longest_edge_px), .whole = {side, side}};
  if (!rules.split) return grid;
  const double ratio = ratio_of(grid.first);
  if (grid.first.width_px >= grid.first.height_px) {
    grid.whole.width_px = tiles_over(grid.first.width_px, side) * side;
    grid.whole.height_px = tiles_over(divided(grid.whole.width_px, ratio), side) * side;
  } else {
    grid.whole.height_px = tiles_over(grid.first.height_px, side) * side;
    grid.whole.width_px = tiles_over(multiplied(grid.whole.height_px, ratio), side) * side;
  }
  // A ratio that leaves nothing of the shorter edge would leave transformers without a picture.
  grid.whole = {std::max(grid.whole.height_px, side), std::max(grid.whole.width_px, side)};
  if (grid.whole.height_px <= side && grid.whole.width_px <= side) return grid;
  grid.rows = grid.whole.height_px / side;
  grid.columns = grid.whole.width_px / side;
  if (grid.rows * grid.columns > kMostTiles) {
    throw Exception(ErrorCode::kLimitExceeded, "max_image_size", "more than 1,024 tiles for one image");
  }
  return grid;
}

MediaTokens::MediaTokens(std::shared_ptr<const Tokenizer> tokenizer, std::int64_t image_token_id, std::int64_t side)
    : tokenizer_(std::move(tokenizer)), image_token_id_(image_token_id), side_(side) {
  require(tokenizer_ != nullptr && side > 0, "media tokens need a tokenizer and a square");
  frame_tokens_ = picture_tokens() + std::ssize(encoded(time_line(0.0)));
}

bool MediaTokens::writes_videos() const { return tokenizer_->token_id("<|im_start|>").has_value(); }

std::vector<std::int64_t> MediaTokens::encoded(const std::string& text) const {
  return tokenizer_->encode(text, SpecialText::kParse, TextStart::kAfterToken);
}

MediumTokens MediaTokens::image(const TileGrid& grid) const {
  MediumTokens tokens;
  for (std::int64_t row = 0; row < grid.rows; ++row) {
    for (std::int64_t column = 0; column < grid.columns; ++column) {
      const std::int64_t tile = 1 + row * grid.columns + column;
      const std::string line_end = row > 0 && column == 0 ? "\n" : "";
      tokens.add_words(encoded(line_end + kFake + "<row_" + std::to_string(row + 1) + "_col_" + std::to_string(column + 1) + ">"), tile);
      tokens.add_square({side_, tile, row * side_, column * side_}, image_token_id_);
    }
  }
  tokens.add_words(encoded((grid.rows > 0 ? "\n\n" : "") + std::string(kWholePicture)), 0);
  tokens.add_square({side_}, image_token_id_);
  tokens.add_words(encoded(kFake), 0);
  return tokens;
}

TileRules MediaTokens::of_at_most(std::int64_t tokens, PixelSize source, TileRules rules) const {
  if (tokens == 0 || !rules.split) return rules;
  for (std::int64_t tiles = (rules.longest_edge_px - 1) / rules.side_px;; --tiles) {
    const TileGrid grid = tile_grid(source, rules);
    const std::int64_t pixels = (grid.rows * grid.columns + 1) * side_ * side_;  // saves the words of grids that are far too large
    if (grid.rows == 0 || tiles < 1 || (pixels <= tokens && std::ssize(image(grid).ids) <= tokens)) return rules;
    const std::int64_t edge = tiles * rules.side_px;
    rules.longest_edge_px = edge - edge % 2;  // the shorter edge is rounded up to an even number, which may not begin another tile
  }
}

MediumTokens MediaTokens::frames(const MediaFacts& facts) const {
  require(std::ssize(facts.times_s) == facts.frames, "every frame has its time");
  MediumTokens tokens;
  for (std::int64_t frame = 0; frame < facts.frames; ++frame) {
    const bool first = frame == 0 && facts.frames_before == 0;  // its time is the prompt's text
    const std::string time = first ? "" : time_line(facts.times_s[static_cast<std::size_t>(frame)]);
    tokens.add_words(encoded(time + kWholePicture), frame);
    tokens.add_square({side_, frame}, image_token_id_);
    tokens.add_words(encoded(kFake), frame);
  }
  return tokens;
}

TextAround MediaTokens::around(const VideoTimes& video) const {
  const std::string intro = video.endless ? ""
                                          : "You are provided the following series of " + spoken_number(video.frames) + " frames from a " +
                                                clock(static_cast<std::int64_t>(video.duration_s)) + " [H:MM:SS] video.\n";
  return {intro + time_line(video.first_s()), "\n\n"};
}

std::string spoken_number(std::int64_t number) {
  require(number >= 0 && number < 1'000'000, "numbers are spoken up to a million");
  if (number < 1000) return below_thousand(number);
  const std::int64_t rest = number % 1000;
  std::string words = below_thousand(number / 1000) + " thousand";
  if (rest != 0) words += (rest < 100 ? " and " : ", ") + below_thousand(rest);
  return words;
}

}  // namespace winnow
