// Qwen2-VL and Qwen2.5-VL: a tower for pictures of native resolution, a Qwen2 decoder with M-RoPE (time, height, width).
//
// Made by registry.h, used as VisionLanguageModel. A medium is its cells and nothing around them (the template writes where it begins and
// ends): an image is joined with itself, frames of a video two by two, the last of an odd number twice. What transformers 5.2 computes
// by default is followed, its torchvision processors for images and videos included; positions say time_positions.h. Threads: engine
// thread; methods need c10::InferenceMode. Errors: kDamagedFile naming the tensor, Interrupted.
#pragma once

#include <memory>

#include "engine/models/model_load.h"
#include "engine/models/qwen2_vl/chat_template.h"
#include "engine/models/qwen2_vl/qwen2_vl_config.h"
#include "engine/models/qwen_vl_parts/patch_grid.h"
#include "engine/models/qwen_vl_parts/qwen_vl_tower.h"
#include "engine/models/qwen_vl_parts/time_positions.h"
#include "engine/models/transformer_decoder.h"
#include "engine/models/vision_language_model.h"

namespace winnow {

class Qwen2Vl final : public VisionLanguageModel {
 public:
  Qwen2Vl(const Qwen2VlFolder& folder, WeightReader& weights);

  const TextDecoder& text() const override { return text_; }
  std::string_view chat_template() const override { return kQwen2VlTemplate; }
  std::int64_t image_token_id() const override { return config_.image_token_id; }
  std::int64_t video_token_id() const override { return config_.video_token_id; }
  TokenPositions positions_for(const TokensToPlace& tokens) const override {
    return three_axis_positions(tokens.origins, tokens.next_position, tokens.frame_s, time_scale());
  }
  TokenPositions positions_of_stream(std::span<const TokenOrigin> origins, const StreamPositions& stream) const override {
    return three_axis_stream_positions(origins, stream, time_scale());
  }
  std::vector<TokenOrigin> origins_of(const MediaFacts& facts) const override;
  PixelValues preprocess(const MediaFacts& facts, std::span<const RgbImage> pictures) const override;
  EncodedParts encode(const MediaFacts& facts, const PixelValues& pixels, std::optional<VisionJudge> judge,
                      const InterruptToken& interrupt) const override;
  MediaFeatures join(const MediaFacts& facts, const EncodedParts& parts) const override;

 private:
  PatchProcessorConfig processor(const MediaFacts& facts) const;
  TimeScale time_scale() const { return {config_.vision.patches.joined_frames, config_.positions_a_second}; }

  Qwen2VlConfig config_;
  QwenVlProcessors processors_;
  TransformerDecoder text_;
  QwenVlTower tower_;
};

std::unique_ptr<VisionLanguageModel> load_qwen2_vl(ModelLoad& load);

}  // namespace winnow
