// InternVL: InternViT, a pixel shuffle and a two-layer projector before a Qwen2, Llama, Qwen3 or InternLM2 decoder; pictures are stretched
// over tiles, followed by a thumbnail.
//
// Made by registry.h, used as VisionLanguageModel. Features follow transformers' InternVLModel.get_image_features, which computes what the
// original models' extract_feature (ps_version v2) does: a state of the tower without its class token, scale x scale patches side by side
// in one token, a layer norm, two products. `<img>`, `</img>` and the numbers of frames are tokens of the medium, with the text model's
// embeddings (picture_tokens.h). A template writes `<video>` for a video, whether the vocabulary has that or not (video_texts()). Threads:
// engine thread; methods need c10::InferenceMode. Errors: kDamagedFile naming the tensor, Interrupted.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/layers/mlp.h"
#include "engine/layers/norm.h"
#include "engine/models/internvl/chat_template.h"
#include "engine/models/internvl/internvl_config.h"
#include "engine/models/internvl/picture_tokens.h"
#include "engine/models/model_load.h"
#include "engine/models/transformer_decoder.h"
#include "engine/models/vision_language_model.h"
#include "engine/models/vit_tower.h"

namespace winnow {

class InternVl final : public VisionLanguageModel {
 public:
  InternVl(const InternVlFolder& folder, InternVlTokens tokens, WeightReader& weights);

  const TextDecoder& text() const override { return text_; }
  std::string_view chat_template() const override { return kInternVlTemplate; }
  std::string_view own_chat_template() const override { return own_template_; }
  std::span<const std::string_view> video_texts() const override { return kVideoTexts; }
  TextAround text_around(const VideoTimes&) const override { return tokens_.around(); }
  std::int64_t image_token_id() const override { return tokens_.image_token_id(); }
  std::int64_t video_token_id() const override { return kVideoPlaceholder; }
  TokenPositions positions_of_stream(std::span<const TokenOrigin> origins, const StreamPositions& stream) const override;
  std::vector<TokenOrigin> origins_of(const MediaFacts& facts) const override { return tokens_of(facts).origins; }
  PixelValues preprocess(const MediaFacts& facts, std::span<const RgbImage> pictures) const override;
  EncodedParts encode(const MediaFacts& facts, const PixelValues& pixels, std::optional<VisionJudge> judge,
                      const InterruptToken& interrupt) const override;
  MediaFeatures join(const MediaFacts& facts, const EncodedParts& parts) const override;

 private:
  static constexpr std::array<std::string_view, 1> kVideoTexts = {"<video>"};
  TileCount tiles_of(const MediaFacts& facts) const;
  MediumTokens tokens_of(const MediaFacts& facts) const;

  InternVlTokens tokens_;
  InternVlPixels pixels_;
  std::string own_template_;
  std::int64_t scale_;
  TransformerDecoder text_;
  VitTower tower_;
  std::optional<LayerNorm> tower_norm_;
  LayerNorm projector_norm_;
  PlainMlp projector_;
};

// transformers' layout, and that of folders with code of their own.
std::unique_ptr<VisionLanguageModel> load_internvl(ModelLoad& load);
std::unique_ptr<VisionLanguageModel> load_internvl_chat(ModelLoad& load);

}  // namespace winnow
