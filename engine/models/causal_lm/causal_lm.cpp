#include "engine/models/causal_lm/causal_lm.h"

#include <array>

#include "engine/base/error.h"
#include "engine/models/causal_lm/falcon_config.h"
#include "engine/models/causal_lm/gemma3_config.h"
#include "engine/models/gemma4/gemma4_text_config.h"
#include "engine/models/glm4v/glm4_text_config.h"
#include "engine/models/lfm2/lfm2_text_config.h"

namespace winnow {
namespace {

[[noreturn]] void refuse_media() { throw Exception(ErrorCode::kInternal, "", "a model that reads text only was given media"); }

// Qwen3.5's text models are read from folders of the whole model, too.
constexpr std::array<WeightNameRule, 1> kNameRules = {{{"model.language_model.", "model."}}};

std::unique_ptr<VisionLanguageModel> load_text_model(const DecoderConfig& config, ModelLoad& load) {
  load.info.traits.sees = false;
  load.info.traits.judges_patches = false;
  return std::make_unique<CausalLm>(config, load.weights(kNameRules));
}

}  // namespace

TokenPositions CausalLm::positions_of_stream(std::span<const TokenOrigin>, const StreamPositions&) const { refuse_media(); }

std::vector<TokenOrigin> CausalLm::origins_of(const MediaFacts&) const { refuse_media(); }

PixelValues CausalLm::preprocess(const MediaFacts&, std::span<const RgbImage>) const { refuse_media(); }

EncodedParts CausalLm::encode(const MediaFacts&, const PixelValues&, std::optional<VisionJudge>, const InterruptToken&) const {
  refuse_media();
}

MediaFeatures CausalLm::join(const MediaFacts&, const EncodedParts&) const { refuse_media(); }

std::unique_ptr<VisionLanguageModel> load_causal_lm(ModelLoad& load) {
  return load_text_model(parse_decoder_config(load.package().required(ModelPart::kConfig).root(), "llama"), load);
}

std::unique_ptr<VisionLanguageModel> load_glm4(ModelLoad& load) {
  return load_text_model(parse_glm4_text_config(load.package().required(ModelPart::kConfig).root(), load.info.family), load);
}

std::unique_ptr<VisionLanguageModel> load_falcon(ModelLoad& load) {
  return load_text_model(parse_falcon_config(load.package().required(ModelPart::kConfig).root()), load);
}

std::unique_ptr<VisionLanguageModel> load_gemma3(ModelLoad& load) {
  return load_text_model(parse_gemma3_config(load.package().required(ModelPart::kConfig).root()), load);
}

std::unique_ptr<VisionLanguageModel> load_gemma4(ModelLoad& load) {
  return load_text_model(parse_gemma4_config(load.package().required(ModelPart::kConfig).root()), load);
}

std::unique_ptr<VisionLanguageModel> load_lfm2(ModelLoad& load) {
  return load_text_model(parse_lfm2_config(load.package().required(ModelPart::kConfig).root()), load);
}

}  // namespace winnow
