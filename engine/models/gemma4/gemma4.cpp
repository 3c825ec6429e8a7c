#include "engine/models/gemma4/gemma4.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/base/error.h"
#include "engine/models/gemma4/image_processor.h"
#include "engine/models/medium_features.h"
#include "engine/text/tokenizer_file.h"

namespace winnow {
namespace {

constexpr std::array<WeightNameRule, 4> kGemma4Names = {{
    {"model.language_model.", "text.model."},
    {"lm_head.", "text.lm_head."},
    {"model.vision_tower.", "tower."},
    {"model.embed_vision.", "embed."},
}};

}  // namespace

Gemma4::Gemma4(const Gemma4Folder& folder, Gemma4Tokens tokens, WeightReader& weights)
    : tokens_(std::move(tokens)),
      image_(folder.image),
      frame_(folder.frame),
      text_(folder.model.text, weights, "text."),
      tower_(folder.model.vision, folder.model.text.hidden_size, weights) {}

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
  SoftTokens tokens = tower_.encode(pixels.pixels, grid(facts), judge, interrupt);
  const at::Tensor rows = text_.rows_of_pixels(tokens.features.flatten(0, 1));
  return {rows.view({tokens.features.size(0), tokens.features.size(1), rows.size(1)}), std::move(tokens.importance)};
}

MediaFeatures Gemma4::join(const MediaFacts& facts, const EncodedParts& parts) const {
  return features_among_words(tokens_of(facts), parts, text_);
}

std::unique_ptr<VisionLanguageModel> load_gemma4_vision(ModelLoad& load) {
  const Gemma4Folder folder = read_gemma4(load.package());
  Gemma4Tokens tokens(load.package().shared_tokenizer(), folder.model.video_token_id, load.package().path());
  if (folder.model.image_token_id != tokens.image_token_id()) {
    throw Exception(ErrorCode::kDamagedFile, load.package().subject(ModelPart::kConfig) + ": image_token_id",
                    "the tokenizer's <|image|> is another token");
  }
  return std::make_unique<Gemma4>(folder, std::move(tokens), load.weights(kGemma4Names));
}

}  // namespace winnow
