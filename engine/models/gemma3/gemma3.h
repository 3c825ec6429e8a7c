// Gemma 3 with vision: a SigLIP tower, pooled patches and a linear projector before a Gemma 3 decoder with bidirectional attention within
// a picture.
//
// Made by registry.h, used as VisionLanguageModel. Features follow transformers' Gemma3Model.get_image_features: the tower's last state
// after its norm, the mean of a token's patches, a centred RMS norm, the projection. In every layer, sliding-window layers included, a
// picture's tokens attend to all of that picture (bidirectional_spans(), transformers' token_type_ids_mask_function).
// `<start_of_image>` and its like are tokens of the medium, with the text model's embeddings, which alone are scaled (picture_tokens.h).
// The class has no video processor: videos are refused (ModelTraits::reads_videos). Threads: engine thread; methods need
// c10::InferenceMode. Errors: kDamagedFile naming the tensor, Interrupted.
#pragma once

#include <ATen/ATen.h>

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/layers/norm.h"
#include "engine/models/gemma3/chat_template.h"
#include "engine/models/gemma3/gemma3_folder.h"
#include "engine/models/gemma3/picture_tokens.h"
#include "engine/models/model_load.h"
#include "engine/models/transformer_decoder.h"
#include "engine/models/vision_language_model.h"
#include "engine/models/vit_tower.h"

namespace winnow {

class Gemma3 final : public VisionLanguageModel {
 public:
  Gemma3(const Gemma3Folder& folder, Gemma3Tokens tokens, WeightReader& weights);

  const TextDecoder& text() const override { return text_; }
  std::string_view chat_template() const override { return kGemma3Template; }
  TextAround text_around(const PictureSize& image, std::int64_t) const override { return tokens_.around(crops(image)); }
  std::int64_t image_token_id() const override { return tokens_.begin_token_id(); }
  std::int64_t video_token_id() const override { return kVideoPlaceholder; }
  std::vector<RowSpan> bidirectional_spans(std::span<const TokenOrigin> origins) const override;
  TokenPositions positions_of_stream(std::span<const TokenOrigin> origins, const StreamPositions& stream) const override;
  std::vector<TokenOrigin> origins_of(const MediaFacts& facts) const override { return tokens_.image(crops(facts.picture)).origins; }
  PixelValues preprocess(const MediaFacts& facts, std::span<const RgbImage> pictures) const override;
  EncodedParts encode(const MediaFacts& facts, const PixelValues& pixels, std::optional<VisionJudge> judge,
                      const InterruptToken& interrupt) const override;
  MediaFeatures join(const MediaFacts& facts, const EncodedParts& parts) const override;

 private:
  CropGrid crops(const PictureSize& image) const { return crops_of({image.height_px, image.width_px}, pixels_.crops); }
  // The mean of each token's patches: [pictures, patches, channels] -> [pictures, tokens, channels].
  at::Tensor pooled(const at::Tensor& of_patches) const;

  Gemma3Tokens tokens_;
  Gemma3Pixels pixels_;
  std::int64_t patches_per_side_;
  std::int64_t pooled_;  // patches along a token's side
  TransformerDecoder text_;
  VitTower tower_;
  LayerNorm tower_norm_;
  RmsNorm soft_norm_;
  at::Tensor projection_;  // [vision hidden, hidden]
};

std::unique_ptr<VisionLanguageModel> load_gemma3_vision(ModelLoad& load);

}  // namespace winnow
