// A text-only language model: Llama, Mistral, Qwen2, Qwen3, Qwen3-Next, Qwen3.5, GLM-4, Falcon, Gemma 3, Gemma 4 and LFM2.
//
// Made by registry.h, used as VisionLanguageModel. ModelTraits::sees is false, so engine/generation refuses images and videos before it
// opens them; calling the media methods breaks their precondition. Threads: engine thread; methods need
// c10::InferenceMode. Errors: those of transformer_decoder.h.
#pragma once

#include <memory>

#include "engine/models/decoder_config.h"
#include "engine/models/model_load.h"
#include "engine/models/transformer_decoder.h"
#include "engine/models/vision_language_model.h"

namespace winnow {

class CausalLm final : public VisionLanguageModel {
 public:
  CausalLm(const DecoderConfig& config, WeightReader& weights) : text_(config, weights, "") {}

  const TextDecoder& text() const override { return text_; }
  std::string_view chat_template() const override { return {}; }
  std::int64_t image_token_id() const override { return kNoToken; }
  std::int64_t video_token_id() const override { return kNoToken; }
  TokenPositions positions_of_stream(std::span<const TokenOrigin> origins, const StreamPositions& stream) const override;
  std::vector<TokenOrigin> origins_of(const MediaFacts& facts) const override;
  PixelValues preprocess(const MediaFacts& facts, std::span<const RgbImage> pictures) const override;
  EncodedParts encode(const MediaFacts& facts, const PixelValues& pixels, std::optional<VisionJudge> judge,
                      const InterruptToken& interrupt) const override;
  MediaFeatures join(const MediaFacts& facts, const EncodedParts& parts) const override;

 private:
  static constexpr std::int64_t kNoToken = -1;

  TransformerDecoder text_;
};

std::unique_ptr<VisionLanguageModel> load_causal_lm(ModelLoad& load);
std::unique_ptr<VisionLanguageModel> load_glm4(ModelLoad& load);
std::unique_ptr<VisionLanguageModel> load_falcon(ModelLoad& load);
std::unique_ptr<VisionLanguageModel> load_gemma3(ModelLoad& load);
std::unique_ptr<VisionLanguageModel> load_gemma4(ModelLoad& load);
std::unique_ptr<VisionLanguageModel> load_lfm2(ModelLoad& load);

}  // namespace winnow
