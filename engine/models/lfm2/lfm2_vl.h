// LFM2-VL: a SigLIP 2 tower that takes pictures in their own proportions, a pixel unshuffle and a two-layer projector before an LFM2
// decoder, whose layers are short convolutions but for a few that attend.
//
// Made by registry.h, used as VisionLanguageModel. Features follow transformers' Lfm2VlModel.get_image_features: the tower's last state
// after its norm, merge x merge patches side by side in one token, a layer norm if the folder has one, two products. The words around
// pictures and tiles are tokens of the medium, with the text model's embeddings (picture_tokens.h). The class has no video processor:
// videos are refused (ModelTraits::reads_videos). Threads: engine thread; methods need c10::InferenceMode. Errors: kDamagedFile naming the
// tensor, Interrupted.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "engine/layers/mlp.h"
#include "engine/layers/norm.h"
#include "engine/models/lfm2/chat_template.h"
#include "engine/models/lfm2/lfm2_vl_config.h"
#include "engine/models/lfm2/picture_tokens.h"
#include "engine/models/model_load.h"
#include "engine/models/transformer_decoder.h"
#include "engine/models/vision_language_model.h"
#include "engine/models/vit_tower.h"

namespace winnow {

class Lfm2Vl final : public VisionLanguageModel {
 public:
  Lfm2Vl(const Lfm2VlFolder& folder, Lfm2PictureTokens tokens, WeightReader& weights);

  const TextDecoder& text() const override { return text_; }
  std::string_view chat_template() const override { return kLfm2VlTemplate; }
  std::int64_t image_token_id() const override { return tokens_.image_token_id(); }
  std::int64_t video_token_id() const override { return kVideoPlaceholder; }
  TokenPositions positions_of_stream(std::span<const TokenOrigin> origins, const StreamPositions& stream) const override {
    return one_axis_stream_positions(origins, stream, std::ssize(origins));
  }
  std::vector<TokenOrigin> origins_of(const MediaFacts& facts) const override { return tokens_of(facts).origins; }
  PixelValues preprocess(const MediaFacts& facts, std::span<const RgbImage> pictures) const override;
  EncodedParts encode(const MediaFacts& facts, const PixelValues& pixels, std::optional<VisionJudge> judge,
                      const InterruptToken& interrupt) const override;
  MediaFeatures join(const MediaFacts& facts, const EncodedParts& parts) const override;

 private:
  Lfm2PicturePlan plan_of(const MediaFacts& facts) const {
    return lfm2_picture_plan(size_of(facts), of_at_most(facts.most_tokens, size_of(facts), pictures_));
  }
  MediumTokens tokens_of(const MediaFacts& facts) const { return tokens_.image(plan_of(facts), pictures_); }
  // Cells of merge x merge patches side by side. of_patches: [pictures, patches, channels], row by row.
  at::Tensor cells_of(const at::Tensor& of_patches, const VitTower::PatchRows& grid) const;

  Lfm2PictureTokens tokens_;
  Lfm2PictureRules pictures_;
  TransformerDecoder text_;
  VitTower tower_;
  LayerNorm tower_norm_;
  std::optional<LayerNorm> projector_norm_;
  PlainMlp projector_;
};

std::unique_ptr<VisionLanguageModel> load_lfm2_vl(ModelLoad& load);

}  // namespace winnow
