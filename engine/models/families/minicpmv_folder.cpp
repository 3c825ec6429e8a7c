#include "engine/models/families/minicpmv_folder.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "engine/base/error.h"
#include "engine/models/config/config_fields.h"
#include "engine/models/config/picture_config.h"
#include "engine/models/config/rotary_config.h"

namespace winnow {
namespace {

constexpr std::int64_t kMostTablePx = 16'384;
constexpr std::int64_t kMostTableSide = 256;
constexpr std::int64_t kMostScalePx = 4096;
constexpr std::int64_t kMostSlicesOfAFile = 64;
constexpr std::int64_t kMostPatchesOfASquare = std::int64_t{1} << 14;

// Patches along a token's side.
std::int64_t read_minicpmv_downsampling(const JsonObject& object) {
  const std::string mode = object.string("downsample_mode", kMaxNameBytes, "16x");
  if (mode != "16x" && mode != "4x") unsupported(object, "downsample_mode", quoted_name(mode) + " is neither 16x nor 4x");
  return mode == "4x" ? 2 : 4;
}

void require_pairs(const JsonObject& object, const char* key) {
  if (object.has(key) && object.integers(key, 1, 1024, 2) != std::vector<std::int64_t>{2, 2})
    unsupported(object, key, "only squares of two patches a side are joined");
}

MiniCpmVVision parse_minicpmv_tower(const JsonObject& vision, const JsonObject& root, const std::string& type) {
  require_vision_type(vision, type);
  MiniCpmVVision tower;
  tower.hidden_size = vision.integer("hidden_size", 1, kMaxHidden);
  tower.intermediate_size = vision.integer("intermediate_size", 1, kMaxIntermediate);
  tower.layers = vision.integer("num_hidden_layers", 1, kMaxLayers);
  tower.heads = vision.integer("num_attention_heads", 1, kMaxHeads);
  tower.head_dim = read_head_dim(vision, tower.hidden_size, tower.heads);
  if (tower.head_dim * tower.heads != tower.hidden_size)
    vision.refuse(ErrorCode::kDamagedFile, "head_dim", "heads times head_dim must be hidden_size");
  if (vision.integer("num_channels", 1, 16, 3) != 3) unsupported(vision, "num_channels", "pictures have three colours");
  tower.patch_px = vision.integer("patch_size", 1, kMaxPatchPx);
  const std::int64_t table_px = vision.integer("image_size", 1, kMostTablePx);
  tower.table_side = table_px / tower.patch_px;
  if (tower.table_side < 1) vision.refuse(ErrorCode::kDamagedFile, "image_size", "it is less than a patch");
  if (tower.table_side > kMostTableSide) vision.refuse(ErrorCode::kLimitExceeded, "image_size", "more than 256 patches a side");
  tower.norm_eps = vision.real("layer_norm_eps", kMinEpsilon, 1.0, tower.norm_eps);
  tower.activation = read_activation(vision, "hidden_act", "gelu_pytorch_tanh");
  require_pairs(vision, "window_kernel_size");
  // The class takes the root's, whatever stands here.
  tower.merger_layer = root.integer("insert_layer_id", -1, kMaxLayers, tower.merger_layer);
  if (tower.merger_layer < 0 || tower.merger_layer >= tower.layers)
    root.refuse(ErrorCode::kDamagedFile, "insert_layer_id", "the vision encoder has " + std::to_string(tower.layers) + " layers");
  return tower;
}

MiniCpmVPixels parse_pixels(const JsonObject& object, const MiniCpmVConfig& model) {
  if (!object.boolean("do_resize", true)) unsupported(object, "do_resize", "pictures that are not resized need not be whole tokens");
  MiniCpmVPixels pixels;
  pixels.slices.scale_px = object.integer("scale_resolution", 1, kMostScalePx, pixels.slices.scale_px);
  pixels.slices.most_slices = object.integer("max_slice_nums", 1, kMostSlicesOfAFile, pixels.slices.most_slices);
  if (!object.boolean("slice_mode", true)) pixels.slices.most_slices = 1;
  pixels.slices.patch_px = object.integer("patch_size", 1, kMaxPatchPx, pixels.slices.patch_px);
  pixels.slices.joined = read_minicpmv_downsampling(object);
  if (pixels.slices.patch_px != model.vision.patch_px) {
    object.refuse(ErrorCode::kDamagedFile, "patch_size",
                  "the vision encoder takes patches of " + std::to_string(model.vision.patch_px) + " px");
  }
  if (pixels.slices.joined != model.joined) object.refuse(ErrorCode::kDamagedFile, "downsample_mode", "config.json has the other one");
  const std::int64_t side = pixels.slices.scale_px / pixels.slices.patch_px;
  if (side * side > kMostPatchesOfASquare)
    object.refuse(ErrorCode::kLimitExceeded, "scale_resolution", "a picture may become more than 16,384 patches");
  pixels.patches.patches = {pixels.slices.patch_px, 1, 1};
  pixels.patches.filter = read_resample_filter(object);
  pixels.patches.scaling = read_pixel_scaling(object, {.mean = {0.5, 0.5, 0.5}, .standard_deviation = {0.5, 0.5, 0.5}});
  return pixels;
}

struct Grid {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

// Python's round(): halves to even.
std::int64_t rounded_to(double length, std::int64_t divisor) {
  const auto parts = static_cast<std::int64_t>(std::nearbyint(length / static_cast<double>(divisor)));
  return std::max(parts * divisor, divisor);
}

// fill: a smaller picture is made larger, too.
CellGrid best_cells(PixelSize source, const SliceRules& rules, bool fill) {
  std::int64_t height = source.height_px;
  std::int64_t width = source.width_px;
  if (fill || height * width > rules.scale_px * rules.scale_px) {
    const double shape = static_cast<double>(width) / static_cast<double>(height);
    height = static_cast<std::int64_t>(static_cast<double>(rules.scale_px) / std::sqrt(shape));
    width = static_cast<std::int64_t>(static_cast<double>(height) * shape);
  }
  const std::int64_t side = rules.token_px();
  return {rounded_to(static_cast<double>(height), side) / side, rounded_to(static_cast<double>(width), side) / side};
}

// Rows 0: nothing is cut.
Grid slice_grid(PixelSize source, const SliceRules& rules) {
  const auto height = static_cast<double>(source.height_px);
  const auto width = static_cast<double>(source.width_px);
  const double shape = std::log(width / height);
  const auto area = static_cast<double>(rules.scale_px * rules.scale_px);
  const auto wanted = static_cast<std::int64_t>(std::ceil(width * height / area));
  const std::int64_t most = std::min(wanted, rules.most_slices);
  if (most <= 1) return {};
  Grid best{1, 1};
  double smallest = std::numeric_limits<double>::infinity();
  for (std::int64_t slices = most - 1; slices <= most + 1; ++slices) {
    if (slices == 1 || slices > rules.most_slices) continue;
    for (std::int64_t rows = 1; rows <= slices; ++rows) {
      if (slices % rows != 0) continue;
      const std::int64_t columns = slices / rows;
      const double error = std::abs(shape - std::log(static_cast<double>(columns) / static_cast<double>(rows)));
      if (error < smallest || (error == smallest && rows > best.rows)) best = {rows, columns};
      smallest = std::min(smallest, error);
    }
  }
  return best;
}

std::int64_t mark_id(const Tokenizer& tokenizer, const char* token, const std::string& file) {
  return special_token_id(tokenizer, token, "a MiniCPM-V", file);
}

// The cells of a picture or a slice, row by row; row and column: of the first.
struct CellPlace {
  std::int64_t frame = 0;
  std::int64_t row = 0;
  std::int64_t column = 0;
};

void add_cells(MediumTokens& tokens, const CellGrid& grid, const CellPlace& at, std::int64_t id) {
  for (std::int64_t row = 0; row < grid.rows; ++row) {
    for (std::int64_t column = 0; column < grid.columns; ++column) {
      tokens.origins.push_back({Modality::kVisual, -1, static_cast<std::int32_t>(at.frame), static_cast<std::int16_t>(at.row + row),
                                static_cast<std::int16_t>(at.column + column)});
      tokens.ids.push_back(id);
    }
  }
}

}  // namespace

MiniCpmVConfig parse_minicpmv_config(const Json& document, const std::string& file) {
  const JsonObject root(document, file);
  const std::string type = root.string("model_type", kMaxNameBytes, "minicpmv4_6");
  const bool canvas = type == "minicpmv4_7";
  if (!canvas) require_model_type(root, "minicpmv4_6", true);
  MiniCpmVConfig config;
  const JsonObject text = root.object("text_config");
  require_model_type(text, "qwen3_5_text", true);
  config.text = parse_decoder_config(text, "qwen3_5_text");
  config.text.tie_word_embeddings = root.boolean("tie_word_embeddings", false);  // the class does not ask the text model
  config.vision = parse_minicpmv_tower(root.object("vision_config"), root, type);
  config.joined = read_minicpmv_downsampling(root);
  require_pairs(root, "merge_kernel_size");
  if (root.integer("merger_times", 1, 16, 1) != 1) unsupported(root, "merger_times", "tokens are merged once");
  const auto token_of = [&](const char* key) {  // the class has none of its own
    return read_media_token(root, {key}, root.integer(key, 0, kMaxVocabulary), config.text.vocabulary);
  };
  config.image_token_id = token_of("image_token_id");
  config.video_token_id = token_of("video_token_id");
  if (config.image_token_id == config.video_token_id)
    root.refuse(ErrorCode::kDamagedFile, "video_token_id", "it is the images' token, too");
  if (canvas) {
    config.text.rotary.frequency_axis = read_alternating_sections(text, rotated_elements(config.text.rotary, config.text.head_dim));
    config.marks = {token_of("image_start_id"), token_of("image_end_id"), token_of("slice_start_id"), token_of("slice_end_id"),
                    token_of("newline_id")};
  }
  return config;
}

MiniCpmVFolder read_minicpmv(const ModelPackage& package) {
  const ModelDocument& config = package.required(ModelPart::kConfig);
  MiniCpmVFolder folder{.model = parse_minicpmv_config(config.content, config.subject)};
  const ProcessorDocuments documents = processor_documents(package);
  const JsonObject& image = required_image(documents.image, package);
  folder.image = parse_pixels(image, folder.model);
  folder.numbers_images = image.boolean("use_image_id", true);
  if (const ModelDocument* const processor = package.document(ModelPart::kProcessor))
    folder.numbers_images = processor->root().boolean("use_image_id", folder.numbers_images);
  const JsonObject& video = documents.video ? *documents.video : image;
  if (video.integer("stack_frames", 1, 1024, 1) != 1) unsupported(video, "stack_frames", "a picture shows one frame");
  folder.frame = parse_pixels(video, folder.model);
  folder.frame.slices.most_slices = 1;
  return folder;
}

SlicedPicture sliced_picture(PixelSize source, const SliceRules& rules) {
  if (source.height_px < 1 || source.width_px < 1) throw Exception(ErrorCode::kInvalidArgument, "image", "it has no area");
  const Grid grid = slice_grid(source, rules);
  SlicedPicture cut;
  cut.rows = grid.rows;
  cut.columns = grid.columns;
  cut.whole = best_cells(source, rules, grid.rows == 0);
  if (grid.rows == 0) return cut;
  const auto part = [](std::int64_t length, std::int64_t parts) { return rounded_to(static_cast<double>(length), parts) / parts; };
  cut.slice = best_cells({part(source.height_px, grid.rows), part(source.width_px, grid.columns)}, rules, true);
  return cut;
}

MiniCpmVTokens::MiniCpmVTokens(const Tokenizer& tokenizer, Ids ids, const std::string& file)
    : ids_(ids),
      begin_(mark_id(tokenizer, "<image>", file)),
      end_(mark_id(tokenizer, "</image>", file)),
      slice_begin_(mark_id(tokenizer, "<slice>", file)),
      slice_end_(mark_id(tokenizer, "</slice>", file)) {
  mark_id(tokenizer, "<image_id>", file);
  mark_id(tokenizer, "</image_id>", file);
  // Between its neighbours: some tokenizers put something before a text that has none.
  const std::vector<std::int64_t> parted = tokenizer.encode("</slice>\n<slice>", SpecialText::kParse, TextStart::kAfterToken);
  const auto end = std::ranges::find(parted, slice_end_);
  require(end != parted.end() && parted.back() == slice_begin_, "special tokens are found in a text");
  line_.assign(end + 1, parted.end() - 1);
}

MediumTokens MiniCpmVTokens::image(const SlicedPicture& cut) const {
  MediumTokens tokens;
  tokens.add_words(std::array{begin_}, 0);
  add_cells(tokens, cut.whole, {}, ids_.image);
  tokens.add_words(std::array{end_}, 0);
  for (std::int64_t slice = 0; slice < cut.slices(); ++slice) {
    const std::int64_t row = slice / cut.columns;
    const std::int64_t column = slice % cut.columns;
    if (row > 0 && column == 0) tokens.add_words(line_, slice + 1);
    tokens.add_words(std::array{slice_begin_}, slice + 1);
    add_cells(tokens, cut.slice, {slice + 1, row * cut.slice.rows, column * cut.slice.columns}, ids_.image);
    tokens.add_words(std::array{slice_end_}, slice + 1);
  }
  return tokens;
}

MediumTokens MiniCpmVTokens::frames(const SlicedPicture& cut, std::int64_t frames) const {
  const MediumTokens picture = image(cut);
  MediumTokens tokens;
  for (std::int64_t frame = 0; frame < frames; ++frame) {
    for (std::size_t token = 0; token < picture.ids.size(); ++token) {
      TokenOrigin origin = picture.origins[token];
      const bool cell = origin.row >= 0;
      if (cell && origin.frame > 0) origin.row = static_cast<std::int16_t>(origin.row + cut.whole.rows);
      origin.frame = static_cast<std::int32_t>(frame);
      tokens.origins.push_back(origin);
      tokens.ids.push_back(cell ? ids_.video : picture.ids[token]);
    }
  }
  return tokens;
}

std::int64_t MiniCpmVTokens::count(const SlicedPicture& cut) const {
  constexpr std::int64_t kMarks = 2;  // around the whole and around a slice
  return cut.cells() + kMarks * (1 + cut.slices()) + std::max<std::int64_t>(cut.rows - 1, 0) * std::ssize(line_);
}

SliceRules MiniCpmVTokens::of_at_most(std::int64_t tokens, PixelSize source, const SliceRules& rules) const {
  if (tokens == 0) return rules;
  const auto with = [&](std::int64_t slices, std::int64_t joined) {
    SliceRules tried = rules;
    tried.most_slices = slices;
    tried.joined = joined;
    return tried;
  };
  const std::int64_t most = std::max(rules.most_slices, kMostSlicesAsked);
  if (const SliceRules fine = with(most, 2); count(sliced_picture(source, fine)) <= tokens) return fine;
  SliceRules fitting = with(1, rules.most_joined);
  std::int64_t taken = count(sliced_picture(source, fitting));
  for (std::int64_t slices = 2; slices <= most; ++slices) {
    const SliceRules tried = with(slices, rules.most_joined);
    const std::int64_t takes = count(sliced_picture(source, tried));
    if (takes <= tokens && takes >= taken) {
      fitting = tried;
      taken = takes;
    }
  }
  return fitting;
}

}  // namespace winnow
