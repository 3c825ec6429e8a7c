#include "engine/models/families/gemma4_folder.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "engine/base/error.h"
#include "engine/models/config/config_fields.h"
#include "engine/models/config/picture_config.h"
#include "engine/models/families/gemma4_text_config.h"

namespace winnow {
namespace {

constexpr std::int64_t kGemma4MostPatchPx = 128;
constexpr std::int64_t kMostPooled = 16;
constexpr std::int64_t kMostPlaces = std::int64_t{1} << 20;

Gemma4Vision gemma4_parse_tower(const JsonObject& vision) {
  require_vision_type(vision, "gemma4");
  Gemma4Vision tower;
  tower.hidden_size = vision.integer("hidden_size", 1, kMaxHidden, tower.hidden_size);
  tower.intermediate_size = vision.integer("intermediate_size", 1, kMaxIntermediate, tower.intermediate_size);
  tower.layers = vision.integer("num_hidden_layers", 1, kMaxLayers, tower.layers);
  tower.heads = vision.integer("num_attention_heads", 1, kMaxHeads, tower.heads);
  if (vision.integer("num_key_value_heads", 1, kMaxHeads, tower.heads) != tower.heads)
    unsupported(vision, "num_key_value_heads", "heads that share keys are not implemented for pictures");
  tower.head_dim = vision.integer("head_dim", 4, kMaxHeadDim, tower.head_dim);
  if (tower.head_dim % 4 != 0)
    vision.refuse(ErrorCode::kDamagedFile, "head_dim", "rows and columns rotate whole pairs of half a head each");
  tower.patch_px = vision.integer("patch_size", 1, kGemma4MostPatchPx, tower.patch_px);
  tower.pooled = vision.integer("pooling_kernel_size", 1, kMostPooled, tower.pooled);
  tower.positions = vision.integer("position_embedding_size", 1, kMostPlaces, tower.positions);
  tower.norm_eps = vision.real("rms_norm_eps", kMinEpsilon, 1.0, tower.norm_eps);
  tower.activation = read_activation(vision, "hidden_activation", "gelu_pytorch_tanh");
  tower.clipped = vision.boolean("use_clipped_linears", false);
  tower.standardised = vision.boolean("standardize", false);
  if (const std::optional<JsonObject> rope = vision.optional_object("rope_parameters")) {
    tower.theta = rope->real("rope_theta", 1.0, 1e12, tower.theta);
    if (const std::string kind = rope->string("rope_type", kMaxNameBytes, "axial"); kind != "axial" && kind != "default")
      unsupported(*rope, "rope_type", quoted_name(kind) + " is not how patches are placed");
  }
  return tower;
}

Gemma4Patches parse_patches(const JsonObject& vision) {
  require_vision_type(vision, "gemma4_unified");
  Gemma4Patches patches;
  patches.hidden_size = vision.integer("mm_embed_dim", 1, kMaxHidden, patches.hidden_size);
  if (vision.integer("output_proj_dims", 1, kMaxHidden, patches.hidden_size) != patches.hidden_size)
    vision.refuse(ErrorCode::kDamagedFile, "output_proj_dims", "the projection reads what mm_embed_dim says");
  patches.patch_px = vision.integer("patch_size", 1, kGemma4MostPatchPx, patches.patch_px);
  patches.pooled = vision.integer("pooling_kernel_size", 1, kMostPooled, patches.pooled);
  patches.positions = vision.integer("mm_posemb_size", 1, kMostPlaces, patches.positions);
  patches.norm_eps = vision.real("rms_norm_eps", kMinEpsilon, 1.0, patches.norm_eps);
  return patches;
}

// places: entries of the tower's table; along_token: how many of them a token's side takes.
template <class Tower>
SoftTokenRules rules_of(const std::optional<JsonObject>& object, std::int64_t budget, const Tower& tower, std::int64_t along_token,
                        const std::string& file) {
  SoftTokenRules defaults{.budget = budget};
  SoftTokenRules rules = object ? parse_soft_token_rules(*object, defaults) : defaults;
  const auto require_fit = [&](bool fits, const char* key, const std::string& reason) {
    if (!fits) throw Exception(ErrorCode::kDamagedFile, object ? object->subject(key) : file + ": " + key, reason);
  };
  require_fit(rules.patch_px == tower.patch_px, "patch_size",
              "the vision encoder takes patches of " + std::to_string(tower.patch_px) + " px");
  require_fit(rules.pooled == tower.pooled, "pooling_kernel_size",
              "the vision encoder joins squares of " + std::to_string(tower.pooled) + " patches a side");
  require_fit(rules.budget * along_token <= tower.positions, "max_soft_tokens", "a long picture has more patches a side than places");
  rules.most = rules.budget;
  for (const std::int64_t larger : kSoftTokenBudgets) {
    if (larger * along_token <= tower.positions) rules.most = std::max(rules.most, larger);
  }
  return rules;
}

constexpr const char* kBeginOfPicture = "<|image>";
constexpr const char* kEndOfPicture = "<image|>";

std::int64_t special_id(const Tokenizer& tokenizer, const char* token, const std::string& file) {
  return special_token_id(tokenizer, token, "a Gemma 4", file);
}

// "01:05", as Python's int() cuts the seconds.
std::string minutes_and_seconds(double time_s) {
  const auto seconds = static_cast<std::int64_t>(std::floor(time_s));
  const auto digits = [](std::int64_t number) { return std::string(number < 10 ? "0" : "").append(std::to_string(number)); };
  return digits(seconds / 60) + ":" + digits(seconds % 60);
}

}  // namespace

SoftTokenRules parse_soft_token_rules(const JsonObject& object, SoftTokenRules rules) {
  if (!object.boolean("do_resize", true)) unsupported(object, "do_resize", "pictures that are not resized need not be whole tokens");
  rules.patch_px = object.integer("patch_size", 1, kGemma4MostPatchPx, rules.patch_px);
  rules.pooled = object.integer("pooling_kernel_size", 1, kMostPooled, rules.pooled);
  rules.budget = object.integer("max_soft_tokens", 1, kSoftTokenBudgets.back(), rules.budget);
  if (std::ranges::find(kSoftTokenBudgets, rules.budget) == kSoftTokenBudgets.end())
    unsupported(object, "max_soft_tokens", "a picture has a budget of 70, 140, 280, 560 or 1120 tokens");
  rules.filter = read_resample_filter(object);
  rules.scaling = read_pixel_scaling(object, {.mean = {0.0, 0.0, 0.0}, .standard_deviation = {1.0, 1.0, 1.0}});
  return rules;
}

Gemma4Config parse_gemma4_vision_config(const Json& document, const std::string& file) {
  const JsonObject root(document, file);
  const bool unified = root.string("model_type", kMaxNameBytes, "") == "gemma4_unified";
  require_model_type(root, unified ? "gemma4_unified" : "gemma4", true);
  const char* const text_type = unified ? "gemma4_unified_text" : "gemma4_text";
  const Json text = completed_object(root, "text_config", {{"model_type", text_type}});
  const JsonObject text_object(text, file, "text_config");
  require_model_type(text_object, text_type, false);
  Gemma4Config config;
  config.text = parse_gemma4_config(text_object);
  config.pictures_see_themselves = pictures_see_themselves(text_object);
  config.text.tie_word_embeddings = root.boolean("tie_word_embeddings", config.text.tie_word_embeddings);
  if (unified) {
    config.vision = parse_patches(root.object("vision_config"));
  } else {
    config.vision = gemma4_parse_tower(root.object("vision_config"));
  }
  config.image_token_id = read_media_token(root, {"image_token_id"}, 258'880, config.text.vocabulary);
  config.video_token_id = read_media_token(root, {"video_token_id"}, 258'884, config.text.vocabulary);
  return config;
}

Gemma4Folder read_gemma4(const ModelPackage& package) {
  const ModelDocument& config = package.required(ModelPart::kConfig);
  Gemma4Folder folder{.model = parse_gemma4_vision_config(config.content, config.subject)};
  const ProcessorDocuments documents = processor_documents(package);
  required_image(documents.image, package);
  const auto rules = [&](const std::optional<JsonObject>& object, std::int64_t budget, ModelPart part) {
    const std::string file = package.subject(part);
    if (const auto* const tower = std::get_if<Gemma4Vision>(&folder.model.vision))
      return rules_of(object, budget, *tower, tower->pooled, file);
    SoftTokenRules read = rules_of(object, budget, std::get<Gemma4Patches>(folder.model.vision), 1, file);
    read.patch_px *= std::exchange(read.pooled, 1);
    return read;
  };
  folder.image = rules(documents.image, 280, ModelPart::kImageProcessor);
  folder.frame = rules(documents.video, 70, ModelPart::kVideoProcessor);
  return folder;
}

SoftTokenRules of_budget(std::int64_t tokens, SoftTokenRules rules) {
  if (tokens == 0) return rules;
  rules.budget = kSoftTokenBudgets.front();
  for (const std::int64_t budget : kSoftTokenBudgets) {
    if (budget <= std::min(tokens, rules.most)) rules.budget = budget;
  }
  return rules;
}

TokenGrid soft_token_grid(PixelSize picture, const SoftTokenRules& rules) {
  if (picture.height_px < 1 || picture.width_px < 1) throw Exception(ErrorCode::kInvalidArgument, "image", "it has no area");
  const auto side = static_cast<double>(rules.token_px());
  const auto height = static_cast<double>(picture.height_px);
  const auto width = static_cast<double>(picture.width_px);
  const auto most_px = static_cast<double>(rules.budget * rules.token_px() * rules.token_px());
  const double factor = std::sqrt(most_px / (height * width));
  const auto whole = [&](double px) { return static_cast<std::int64_t>(std::floor(factor * px / side)); };
  // A picture that is too long for its shape is a strip of tokens.
  const auto strip = [&](double longer, double shorter) {
    return std::min(static_cast<std::int64_t>(std::floor(longer / shorter)), rules.budget);
  };
  const TokenGrid grid{whole(height), whole(width)};
  if (grid.rows == 0) return {1, strip(width, height)};
  if (grid.columns == 0) return {strip(height, width), 1};
  return grid;
}

Gemma4Tokens::Gemma4Tokens(std::shared_ptr<const Tokenizer> tokenizer, std::int64_t video_token_id, const std::string& file)
    : tokenizer_(std::move(tokenizer)),
      begin_(special_id(*tokenizer_, kBeginOfPicture, file)),
      image_(special_id(*tokenizer_, "<|image|>", file)),
      video_(video_token_id),
      end_(special_id(*tokenizer_, kEndOfPicture, file)) {
  words_ = std::ssize(between(0.0)) + 2;
}

void Gemma4Tokens::add_picture(MediumTokens& tokens, const TokenGrid& grid, std::int64_t frame, std::int64_t id) const {
  tokens.add_words(std::array{begin_}, frame);
  for (std::int64_t row = 0; row < grid.rows; ++row) {
    for (std::int64_t column = 0; column < grid.columns; ++column) {
      tokens.origins.push_back(
          {Modality::kVisual, -1, static_cast<std::int32_t>(frame), static_cast<std::int16_t>(row), static_cast<std::int16_t>(column)});
      tokens.ids.push_back(id);
    }
  }
  tokens.add_words(std::array{end_}, frame);
}

MediumTokens Gemma4Tokens::image(const TokenGrid& grid) const {
  MediumTokens tokens;
  add_picture(tokens, grid, 0, image_);
  return tokens;
}

MediumTokens Gemma4Tokens::frames(const TokenGrid& grid, const MediaFacts& facts) const {
  require(std::ssize(facts.times_s) == facts.frames, "every frame has its time");
  MediumTokens tokens;
  for (std::int64_t frame = 0; frame < facts.frames; ++frame) {
    if (frame > 0 || facts.frames_before > 0) tokens.add_words(between(facts.times_s[static_cast<std::size_t>(frame)]), frame);
    add_picture(tokens, grid, frame, video_);
  }
  return tokens;
}

std::string Gemma4Tokens::before(const VideoTimes& video) { return minutes_and_seconds(video.first_s()) + " "; }

std::vector<std::int64_t> Gemma4Tokens::between(double time_s) const {
  // Between its neighbours: some tokenizers put something before a text that has none.
  const std::string text = kEndOfPicture + (" " + minutes_and_seconds(time_s) + " ") + kBeginOfPicture;
  const std::vector<std::int64_t> ids = tokenizer_->encode(text, SpecialText::kParse, TextStart::kAfterToken);
  const auto end = std::ranges::find(ids, end_);
  require(end != ids.end() && ids.back() == begin_, "special tokens are found in a text");
  return {end + 1, ids.end() - 1};
}

}  // namespace winnow
