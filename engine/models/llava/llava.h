// LLaVA-1.5, LLaVA-NeXT and LLaVA-NeXT-Video: CLIP (or SigLIP) tower, two-layer projector, Llama, Vicuna or Mistral decoder.
//
// Made by registry.h, used as VisionLanguageModel. Features follow transformers' LlavaModel, LlavaNextModel and LlavaNextVideoModel. A
// LLaVA-1.5 makes one square of an image, with the class token before it where the select strategy is "full". The NeXT classes tile every
// image: the base tile, then the stitched and unpadded grid with a newline embedding after each row; nothing is reduced. A video of
// NeXT-Video is its frames, their patches pooled by 2 before the projector; nothing stands between or after them. The other two read no
// videos (ModelTraits::reads_videos). Threads: engine thread; methods need c10::InferenceMode. Errors: kDamagedFile naming the tensor,
// Interrupted.
#pragma once

#include <memory>

#include "engine/models/llava/llava_config.h"
#include "engine/models/llava_parts/llava_vision.h"
#include "engine/models/model_load.h"
#include "engine/models/transformer_decoder.h"
#include "engine/models/vision_language_model.h"

namespace winnow {

class Llava final : public VisionLanguageModel {
 public:
  Llava(const LlavaFolder& folder, WeightReader& weights);

  const TextDecoder& text() const override { return text_; }
  std::string_view chat_template() const override;
  std::int64_t image_token_id() const override { return config_.image_token_id; }
  std::int64_t video_token_id() const override { return config_.video_token_id; }
  TokenPositions positions_of_stream(std::span<const TokenOrigin> origins, const StreamPositions& stream) const override;
  std::vector<TokenOrigin> origins_of(const MediaFacts& facts) const override;
  PixelValues preprocess(const MediaFacts& facts, std::span<const RgbImage> pictures) const override;
  EncodedParts encode(const MediaFacts& facts, const PixelValues& pixels, std::optional<VisionJudge> judge,
                      const InterruptToken& interrupt) const override;
  MediaFeatures join(const MediaFacts& facts, const EncodedParts& parts) const override;

 private:
  GridRules grid_of(const MediaFacts& facts) const { return of_at_most(facts.most_tokens, config_.grid); }

  LlavaConfig config_;
  LlavaProcessorConfig processor_;
  TransformerDecoder text_;
  LlavaVision vision_;
  at::Tensor newline_;  // [hidden]; of classes that tile
};

// The class is the one that load.info.family names.
std::unique_ptr<VisionLanguageModel> load_llava(ModelLoad& load);

}  // namespace winnow
