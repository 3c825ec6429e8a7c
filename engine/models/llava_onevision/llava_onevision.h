// LLaVA-OneVision: SigLIP tower, two-layer projector, Qwen2 decoder; anyres images and pooled video frames.
//
// Made by registry.h, used as VisionLanguageModel. Features follow transformers' LlavaOnevisionModel (get_image_features,
// pack_image_features, get_video_features): an image of its own is its base tile, then the stitched, unpadded and, where the tiles are too
// many, bilinearly reduced grid with a newline embedding after each row; an image among several is one tile and one newline; a video is
// its frames pooled to half the side and one newline at the end, or as a LLaVA-Video's file has it (video_rules.h). Threads: engine
// thread; methods need c10::InferenceMode.
// Errors: kDamagedFile naming the tensor, kUnsupportedModel where the select strategy leaves no square grid, Interrupted.
#pragma once

#include <memory>
#include <string>

#include "engine/models/llava_onevision/chat_template.h"
#include "engine/models/llava_onevision/image_processor.h"
#include "engine/models/llava_onevision/llava_onevision_config.h"
#include "engine/models/llava_onevision/token_layout.h"
#include "engine/models/llava_parts/llava_vision.h"
#include "engine/models/model_load.h"
#include "engine/models/transformer_decoder.h"
#include "engine/models/vision_language_model.h"

namespace winnow {

class LlavaOnevision final : public VisionLanguageModel {
 public:
  LlavaOnevision(const LlavaOnevisionFolder& folder, WeightReader& weights);

  const TextDecoder& text() const override { return text_; }
  std::string_view chat_template() const override { return kLlavaOnevisionTemplate; }
  std::int64_t image_token_id() const override { return config_.image_token_id; }
  std::int64_t video_token_id() const override { return config_.video_token_id; }
  TokenPositions positions_of_stream(std::span<const TokenOrigin> origins, const StreamPositions& stream) const override;
  std::vector<TokenOrigin> origins_of(const MediaFacts& facts) const override;
  PixelValues preprocess(const MediaFacts& facts, std::span<const RgbImage> pictures) const override;
  EncodedParts encode(const MediaFacts& facts, const PixelValues& pixels, std::optional<VisionJudge> judge,
                      const InterruptToken& interrupt) const override;
  MediaFeatures join(const MediaFacts& facts, const EncodedParts& parts) const override;

 private:
  MediaFeatures join_tiles(const MediaFacts& facts, const EncodedParts& tiles) const;
  MediaFeatures join_frames(const EncodedParts& frames) const;
  // All tokens of the parts, a newline after every so many; without origins.
  MediaFeatures with_newlines(const EncodedParts& parts, std::int64_t every) const;

  LlavaOnevisionConfig config_;
  ImageProcessor processor_;
  TransformerDecoder text_;
  LlavaVision vision_;
  at::Tensor newline_;  // [hidden]
};

std::unique_ptr<VisionLanguageModel> load_llava_onevision(ModelLoad& load);

}  // namespace winnow
