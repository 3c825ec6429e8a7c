// Qwen3-VL and Qwen3-VL-MoE: a tower for pictures of native resolution with deepstack, and a Qwen3 decoder with M-RoPE (time, height,
// width); the second is a mixture of experts. Also what Qwen3.5 and GLM-4V do with media (models/qwen3_5, models/glm4v), whose towers have
// no deepstack.
//
// Made by registry.h, used as VisionLanguageModel. A vision token's row holds the last layer's features, followed by deepstack features of
// earlier tower layers, which the decoder adds after its first layers (DecoderConfig::deepstack_layers). Caching, pruning and reading in
// clips therefore handle both alike. An image is its cells; a video is pictures of joined frames, each with its time (timed_frames.h).
// Follows transformers 5.2's defaults, including its torchvision processors. The size of frames depends on their number; for a running
// source on that of one batch. Threads: engine thread; methods need c10::InferenceMode. Errors: kDamagedFile naming the tensor,
// Interrupted.
#pragma once

#include <memory>

#include "engine/models/model_load.h"
#include "engine/models/qwen3_vl/qwen3_vl_config.h"
#include "engine/models/qwen3_vl/timed_frames.h"
#include "engine/models/qwen_vl_parts/qwen_vl_tower.h"
#include "engine/models/qwen_vl_parts/time_positions.h"
#include "engine/models/transformer_decoder.h"
#include "engine/models/vision_language_model.h"

namespace winnow {

class Qwen3Vl final : public VisionLanguageModel {
 public:
  // Frames that a source without an end is taken to have, where their number decides how large they are.
  static constexpr std::int64_t kFramesOfEndless = 8;

  Qwen3Vl(const Qwen3VlFolder& folder, TimedFrames tokens, WeightReader& weights);

  const TextDecoder& text() const override { return text_; }
  std::string_view chat_template() const override { return chat_template_; }
  std::span<const std::string_view> video_texts() const override { return tokens_.texts(); }
  TextAround text_around(const VideoTimes& video) const override { return {tokens_.before(video), ""}; }
  std::int64_t image_token_id() const override { return config_.tokens.image; }
  std::int64_t video_token_id() const override { return kVideoPlaceholder; }
  TokenPositions positions_for(const TokensToPlace& tokens) const override {
    return three_axis_positions(tokens.origins, tokens.next_position, tokens.frame_s,
                                {.joined_frames = joined_frames(), .sets_apart = true});
  }
  TokenPositions positions_of_stream(std::span<const TokenOrigin> origins, const StreamPositions& stream) const override {
    return apart_stream_positions(origins, stream, joined_frames(), tokens_.words());
  }
  std::vector<TokenOrigin> origins_of(const MediaFacts& facts) const override { return tokens_of(facts).origins; }
  PixelValues preprocess(const MediaFacts& facts, std::span<const RgbImage> pictures) const override;
  EncodedParts encode(const MediaFacts& facts, const PixelValues& pixels, std::optional<VisionJudge> judge,
                      const InterruptToken& interrupt) const override;
  MediaFeatures join(const MediaFacts& facts, const EncodedParts& parts) const override;

 private:
  std::int64_t joined_frames() const { return config_.vision.patches.joined_frames; }
  PatchProcessorConfig processor(const MediaFacts& facts) const;
  PixelSize target_size(const MediaFacts& facts) const;
  CellGrid grid(const MediaFacts& facts) const;
  MediumTokens tokens_of(const MediaFacts& facts) const;

  std::string_view chat_template_;  // of static storage
  Qwen3VlConfig config_;
  QwenVlProcessors processors_;
  TimedFrames tokens_;
  TransformerDecoder text_;
  QwenVlTower tower_;
};

std::unique_ptr<VisionLanguageModel> load_qwen3_vl(ModelLoad& load);
// The model of a folder that has been read.
std::unique_ptr<VisionLanguageModel> load_qwen3_vl_of(ModelLoad& load, const Qwen3VlFolder& folder);

}  // namespace winnow
