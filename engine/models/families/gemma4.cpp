// Gemma 4 with vision: pictures and frames of any shape within a budget of soft tokens, before a Gemma 4 decoder.
//
// E2B, E4B, 26B-A4B and 31B have a vision transformer, 12B embeds its pixels (gemma4_tower.h). From 12B on a picture's tokens attend to all
// of that picture (bidirectional_spans()) in layers with a window. Pictures are larger or smaller made to fit their budget
// (gemma4_folder.h), which a frame has of its own; what is written around them: gemma4_folder.h. A vision token's row holds its features
// and what the decoder's layers read beside them (layer_inputs.h). The sound encoder is not read, and sound is refused. Follows
// transformers 5.24's Gemma4ForConditionalGeneration and Gemma4UnifiedForConditionalGeneration. Errors: kDamagedFile naming the tensor,
// Interrupted.
#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "engine/base/error.h"
#include "engine/media/frame_source.h"
#include "engine/model_files/family_templates.h"
#include "engine/models/decoder/transformer_decoder.h"
#include "engine/models/families/gemma4_folder.h"
#include "engine/models/families/gemma4_tower.h"
#include "engine/models/family_rows.h"
#include "engine/models/model_load.h"
#include "engine/models/vision/medium_features.h"
#include "engine/models/vision/picture_spans.h"
#include "engine/models/vision_language_model.h"
#include "engine/vision/pixel_size.h"
#include "engine/vision/resize.h"

namespace winnow {
namespace {

at::Tensor soft_token_patches(std::span<const RgbImage> pictures, const TokenGrid& grid, const SoftTokenRules& rules) {
  require(!pictures.empty(), "patches are made of pictures");
  const PixelSize target{grid.rows * rules.token_px(), grid.columns * rules.token_px()};
  const std::int64_t patch = rules.patch_px;
  const std::int64_t across = target.width_px / patch;
  const std::int64_t values = 3 * patch * patch;
  const std::int64_t patches = target.height_px / patch * across;
  const ByteTable table = torch_table(rules.scaling);
  at::Tensor rows = at::empty({std::ssize(pictures) * patches, values}, at::TensorOptions().dtype(at::kFloat));
  auto* of_picture = rows.data_ptr<float>();
  for (const RgbImage& picture : pictures) {
    const PixelSize size = checked_size(picture);
    const std::vector<std::uint8_t> rgb =
        resize_rgb8({picture.rgb.data(), size, size, {0, 0}, {0, 0, 0}}, target, rules.filter, ResizeArithmetic::kTorch);
    const std::uint8_t* byte = rgb.data();
    for (std::int64_t y = 0; y < target.height_px; ++y) {
      for (std::int64_t x = 0; x < target.width_px; ++x) {
        float* const pixel = of_picture + (y / patch * across + x / patch) * values + (y % patch * patch + x % patch) * 3;
        for (std::size_t c = 0; c < 3; ++c) pixel[c] = table[c][*byte++];
      }
    }
    of_picture += patches * values;
  }
  return rows;
}

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

class Gemma4 final : public Sight {
 public:
  Gemma4(const Gemma4Folder& folder, Gemma4Tokens tokens, const TransformerDecoder& text, WeightReader& weights);

  MediumTokens tokens_of(const MediaFacts& facts) const override;
  PixelValues pixels_of(const MediaFacts& facts, std::span<const RgbImage> pictures) const override;
  EncodedParts encode(const MediaFacts& facts, const PixelValues& pixels, std::optional<VisionJudge> judge,
                      const InterruptToken& interrupt) const override;
  TextAround text_around(const VideoTimes& video) const override { return {Gemma4Tokens::before(video), ""}; }
  std::vector<RowSpan> bidirectional_spans(std::span<const TokenOrigin> origins) const override;
  TokenPositions positions_of_stream(std::span<const TokenOrigin> origins, const StreamPositions& stream) const override;

 private:
  SoftTokenRules rules(const MediaFacts& facts) const {
    return of_budget(facts.most_tokens, facts.kind == MediaKind::kVideo ? frame_ : image_);
  }
  TokenGrid grid(const MediaFacts& facts) const { return soft_token_grid(size_of(facts), rules(facts)); }

  Gemma4Tokens tokens_;
  SoftTokenRules image_;
  SoftTokenRules frame_;
  bool pictures_see_themselves_;
  const TransformerDecoder& text_;
  std::variant<Gemma4Tower, Gemma4PatchEmbedder> tower_;
};

Gemma4::Gemma4(const Gemma4Folder& folder, Gemma4Tokens tokens, const TransformerDecoder& text, WeightReader& weights)
    : tokens_(std::move(tokens)),
      image_(folder.image),
      frame_(folder.frame),
      pictures_see_themselves_(folder.model.pictures_see_themselves),
      text_(text),
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

PixelValues Gemma4::pixels_of(const MediaFacts& facts, std::span<const RgbImage> pictures) const {
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

}  // namespace

std::unique_ptr<VisionLanguageModel> load_gemma4_vision(ModelLoad& load) {
  const Gemma4Folder folder = read_gemma4(load.package());
  Gemma4Tokens tokens(load.package().shared_tokenizer(), folder.model.video_token_id, load.package().path());
  load.require_token("image_token_id", "<|image|>", folder.model.image_token_id);
  load.info.traits.judges_patches = std::holds_alternative<Gemma4Vision>(folder.model.vision);
  load.info.picture_detail = {DetailKind::kBudgets, 70, 280, 1120, 0};
  load.info.frame_detail = {DetailKind::kBudgets, 70, 140, 280, 0};
  WeightReader& weights = load.weights(kGemma4Names);
  auto text = std::make_unique<TransformerDecoder>(folder.model.text, weights, "text.");
  MediaPrompt prompt{family_template("gemma4"), tokens.image_token_id()};
  prompt.video_texts = Gemma4Tokens::kVideoTexts;
  auto sight = std::make_unique<Gemma4>(folder, std::move(tokens), *text, weights);
  return std::make_unique<VisionLanguageModel>(std::move(prompt), std::move(text), std::move(sight));
}

}  // namespace winnow
