// Gemma 4 with vision: pictures and frames of any shape within a budget of soft tokens, before a Gemma 4 decoder.
//
// Made by registry.h, used as VisionLanguageModel. E2B, E4B, 26B-A4B and 31B have a vision transformer, 12B embeds its pixels
// (patch_embedder.h). From 12B on a picture's tokens attend to all of that picture (bidirectional_spans()) in layers with a window.
// Pictures are larger or smaller made to fit their budget (soft_tokens.h), which a frame has of its own; what is written around them:
// media_tokens.h. A vision token's row holds its features and what the decoder's layers read beside them (layer_inputs.h). The sound
// encoder is not read, and sound is refused. Follows transformers 5.24's Gemma4ForConditionalGeneration and
// Gemma4UnifiedForConditionalGeneration. Threads: engine thread; methods need c10::InferenceMode. Errors: kDamagedFile naming the tensor,
// Interrupted.
#pragma once

#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "engine/models/gemma4/chat_template.h"
#include "engine/models/gemma4/gemma4_folder.h"
#include "engine/models/gemma4/gemma4_tower.h"
#include "engine/models/gemma4/media_tokens.h"
#include "engine/models/gemma4/patch_embedder.h"
#include "engine/models/model_load.h"
#include "engine/models/transformer_decoder.h"
#include "engine/models/vision_language_model.h"

namespace winnow {

class Gemma4 final : public VisionLanguageModel {
 public:
  Gemma4(const Gemma4Folder& folder, Gemma4Tokens tokens, WeightReader& weights);

  const TextDecoder& text() const override { return text_; }
  std::string_view chat_template() const override { return kGemma4Template; }
  std::span<const std::string_view> video_texts() const override { return Gemma4Tokens::kVideoTexts; }
  TextAround text_around(const VideoTimes& video) const override { return {Gemma4Tokens::before(video), ""}; }
  std::int64_t image_token_id() const override { return tokens_.image_token_id(); }
  std::int64_t video_token_id() const override { return kVideoPlaceholder; }
  std::vector<RowSpan> bidirectional_spans(std::span<const TokenOrigin> origins) const override;
  TokenPositions positions_of_stream(std::span<const TokenOrigin> origins, const StreamPositions& stream) const override;
  std::vector<TokenOrigin> origins_of(const MediaFacts& facts) const override { return tokens_of(facts).origins; }
  PixelValues preprocess(const MediaFacts& facts, std::span<const RgbImage> pictures) const override;
  EncodedParts encode(const MediaFacts& facts, const PixelValues& pixels, std::optional<VisionJudge> judge,
                      const InterruptToken& interrupt) const override;
  MediaFeatures join(const MediaFacts& facts, const EncodedParts& parts) const override;

 private:
  SoftTokenRules rules(const MediaFacts& facts) const {
    return of_budget(facts.most_tokens, facts.kind == MediaKind::kVideo ? frame_ : image_);
  }
  TokenGrid grid(const MediaFacts& facts) const { return soft_token_grid(size_of(facts), rules(facts)); }
  MediumTokens tokens_of(const MediaFacts& facts) const;

  Gemma4Tokens tokens_;
  SoftTokenRules image_;
  SoftTokenRules frame_;
  bool pictures_see_themselves_;
  TransformerDecoder text_;
  std::variant<Gemma4Tower, Gemma4PatchEmbedder> tower_;
};

std::unique_ptr<VisionLanguageModel> load_gemma4_vision(ModelLoad& load);

}  // namespace winnow
