#include "engine/models/gemma4/gemma4.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/base/error.h"
#include "engine/models/gemma4/image_processor.h"
#include "engine/models/medium_features.h"
#include "engine/models/picture_spans.h"
#include "engine/text/tokenizer_file.h"

namespace winnow {
namespace {

// The 12B's as published and as its class calls them.
constexpr std::array<WeightNameRule, 11> kGemma4Names = {{
    {"model.language_model.", "text.model."},
    {"lm_head.", "text.lm_head."},
    {"model.vision_tower.", "tower."},
    {"model.vision_embedder.", "tower."},
    {"model.embed_vision.multimodal_embedder.", "embed."},
    {"model.embed_vision.patch_ln1.", "tower.patch_ln1."},
    {"model.embed_vision.patch_dense.", "tower.patch_dense."},
    {"model.embed_vision.patch_ln2.", "tower.patch_ln2."},
    {"model.embed_vision.pos_embedding", "tower.pos_embedding"},
    {"model.embed_vision.pos_norm.", "tower.pos_norm."},
    {"model.embed_vision.", "embed."},
}};

std::variant<Gemma4Tower, Gemma4PatchEmbedder> read_tower(const Gemma4Config& model, WeightReader& weights) {
  if (const auto* const tower = std::get_if<Gemma4Vision>(&model.vision)) return Gemma4Tower(*tower, model.text.hidden_size, weights);
  return Gemma4PatchEmbedder(std::get<Gemma4Patches>(model.vision), model.text.hidden_size, weights);
}

}  // namespace

Gemma4::Gemma4(const Gemma4Folder& folder, Gemma4Tokens tokens, WeightReader& weights)
    : tokens_(std::move(tokens)),
      image_(folder.image),
      frame_(folder.frame),
      pictures_see_themselves_(folder.model.pictures_see_themselves),
      text_(folder.model.text, weights, "text."),
      tower_(read_tower(folder.model, weights)) {}

std::vector<RowSpan> Gemma4::bidirectional_spans(std::span<const TokenOrigin> origins) const {
  return pictures_see_themselves_ ? spans_of_pictures(origins) : std::vector<RowSpan>{};
}

MediumTokens Gemma4::tokens_of(const MediaFacts& facts) const {
  return facts.kind == MediaKind::kVideo ? tokens_.frames(grid(facts), facts) : tokens_.image(grid(facts));
}

TokenPositions Gemma4::positions_of_stream(std::span<const TokenOrigin> origins, const StreamPositions& stream) const {
  const auto of_last = [&](const TokenOrigin& origin) { return origin.row >= 0 && origin.frame == origins.back().frame; };
  constexpr std::int64_t kMarks = 2;
  const auto soft_tokens = static_cast<std::int64_t>(std::ranges::count_if(origins, of_last));
  return stream_positions_of_pictures(origins, stream, {soft_tokens + tokens_.words(), soft_tokens + kMarks});
}

PixelValues Gemma4::preprocess(const MediaFacts& facts, std::span<const RgbImage> pictures) const {
  require(facts.kind == MediaKind::kVideo || pictures.size() == 1, "preprocess: an image is one picture");
  return {soft_token_patches(pictures, grid(facts), rules(facts)), facts.picture.height_px, facts.picture.width_px};
}

EncodedParts Gemma4::encode(const MediaFacts& facts, const PixelValues& pixels, std::optional<VisionJudge> judge,
                            const InterruptToken& interrupt) const {
  const TokenGrid size = grid(facts);
  const auto* const tower = std::get_if<Gemma4Tower>(&tower_);
  require(tower != nullptr || !judge, "patches that do not see each other are not judged");
  SoftTokens tokens = tower != nullptr
                          ? tower->encode(pixels.pixels, size, judge, interrupt)
                          : SoftTokens{std::get<Gemma4PatchEmbedder>(tower_).encode(pixels.pixels, size, interrupt), at::Tensor()};
  const at::Tensor rows = text_.rows_of_pixels(tokens.features.flatten(0, 1));
  return {rows.view({tokens.features.size(0), tokens.features.size(1), rows.size(1)}), std::move(tokens.importance)};
}

MediaFeatures Gemma4::join(const MediaFacts& facts, const EncodedParts& parts) const {
  return features_among_words(tokens_of(facts), parts, text_);
}

std::unique_ptr<VisionLanguageModel> load_gemma4_vision(ModelLoad& load) {
  const Gemma4Folder folder = read_gemma4(load.package());
  Gemma4Tokens tokens(load.package().shared_tokenizer(), folder.model.video_token_id, load.package().path());
  load.require_token("image_token_id", "<|image|>", folder.model.image_token_id);
  load.info.traits.judges_patches = std::holds_alternative<Gemma4Vision>(folder.model.vision);
  load.info.picture_detail = {DetailKind::kBudgets, 70, 280, 1120, 0};
  load.info.frame_detail = {DetailKind::kBudgets, 70, 140, 280, 0};
  return std::make_unique<Gemma4>(folder, std::move(tokens), load.weights(kGemma4Names));
}

}  // namespace winnow
