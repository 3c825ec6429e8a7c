// Idefics3, SmolVLM and SmolVLM2: a SigLIP-like tower, a pixel shuffle and a linear projector before a Llama decoder; pictures are cut into
// tiles with text between them.
//
// Made by registry.h, used as VisionLanguageModel. Features follow transformers' SmolVLMModel.get_image_features, which Idefics3Model
// shares: the tower's last state after its norm, scale_factor x scale_factor patches side by side in one token, projected. Positions of
// patches are found by fractional coordinates (bucketize), in fp32 whatever the type of the arithmetic; transformers rounds them to that
// type first. A medium's words between its first and last token are tokens of the medium, with the text model's embeddings
// (media_tokens.h). Threads: engine thread; methods need c10::InferenceMode. Errors: kDamagedFile naming the tensor, Interrupted.
#pragma once

#include <memory>
#include <string_view>

#include "engine/layers/linear.h"
#include "engine/layers/norm.h"
#include "engine/models/model_load.h"
#include "engine/models/smolvlm/chat_template.h"
#include "engine/models/smolvlm/image_processor.h"
#include "engine/models/smolvlm/media_tokens.h"
#include "engine/models/smolvlm/smolvlm_config.h"
#include "engine/models/transformer_decoder.h"
#include "engine/models/vision_language_model.h"
#include "engine/models/vit_tower.h"

namespace winnow {

class SmolVlm final : public VisionLanguageModel {
 public:
  SmolVlm(const SmolVlmFolder& folder, MediaTokens tokens, WeightReader& weights);

  const TextDecoder& text() const override { return text_; }
  std::string_view chat_template() const override { return kSmolVlmTemplate; }
  std::string_view video_chat_template() const override { return tokens_.writes_videos() ? kSmolVlmVideoTemplate : std::string_view(); }
  TextAround text_around(const VideoTimes& video) const override { return tokens_.around(video); }
  std::int64_t image_token_id() const override { return image_token_id_; }
  std::int64_t video_token_id() const override { return kVideoPlaceholder; }
  TokenPositions positions_of_stream(std::span<const TokenOrigin> origins, const StreamPositions& stream) const override;
  std::vector<TokenOrigin> origins_of(const MediaFacts& facts) const override { return tokens_of(facts).origins; }
  PixelValues preprocess(const MediaFacts& facts, std::span<const RgbImage> pictures) const override;
  EncodedParts encode(const MediaFacts& facts, const PixelValues& pixels, std::optional<VisionJudge> judge,
                      const InterruptToken& interrupt) const override;
  MediaFeatures join(const MediaFacts& facts, const EncodedParts& parts) const override;

 private:
  TileRules rules_of(const MediaFacts& facts) const { return tokens_.of_at_most(facts.most_tokens, size_of(facts), tiles_); }
  MediumTokens tokens_of(const MediaFacts& facts) const;

  MediaTokens tokens_;
  TileRules tiles_;
  SmolVlmImageProcessor processor_;
  std::int64_t image_token_id_;
  std::int64_t scale_;
  TransformerDecoder text_;
  VitTower tower_;
  LayerNorm tower_norm_;
  Linear projection_;
};

std::unique_ptr<VisionLanguageModel> load_smolvlm(ModelLoad& load);

}  // namespace winnow
