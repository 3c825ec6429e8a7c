// The text-only language models: Llama, Mistral, Qwen2, Qwen3, Qwen3-Next, Qwen3.5, GLM-4, Falcon, Gemma 3, Gemma 4 and LFM2.
//
// ModelTraits::sees is false, so engine/generation refuses images and videos before it opens them. Errors: those of transformer_decoder.h.

#include <array>

#include "engine/models/config/decoder_config.h"
#include "engine/models/decoder/transformer_decoder.h"
#include "engine/models/families/falcon_config.h"
#include "engine/models/families/gemma3_text_config.h"
#include "engine/models/families/gemma4_text_config.h"
#include "engine/models/families/glm4v_config.h"
#include "engine/models/families/lfm2_text_config.h"
#include "engine/models/family_rows.h"
#include "engine/models/model_load.h"
#include "engine/models/vision_language_model.h"

namespace winnow {
namespace {

// Qwen3.5's text models are read from folders of the whole model, too.
constexpr std::array<WeightNameRule, 1> kTextNames = {{{"model.language_model.", "model."}}};

JsonObject config_of(const ModelLoad& load) { return load.package().required(ModelPart::kConfig).root(); }

std::unique_ptr<VisionLanguageModel> text_model(const DecoderConfig& config, ModelLoad& load) {
  load.info.traits.sees = false;
  load.info.traits.judges_patches = false;
  MediaPrompt prompt{.video_token_id = MediaPrompt::kNoToken};
  return std::make_unique<VisionLanguageModel>(prompt, std::make_unique<TransformerDecoder>(config, load.weights(kTextNames), ""),
                                               std::make_unique<Sight>());
}

}  // namespace

std::unique_ptr<VisionLanguageModel> load_causal_lm(ModelLoad& load) {
  return text_model(parse_decoder_config(config_of(load), "llama"), load);
}

std::unique_ptr<VisionLanguageModel> load_glm4(ModelLoad& load) {
  return text_model(parse_glm4_text_config(config_of(load), load.info.family), load);
}

std::unique_ptr<VisionLanguageModel> load_falcon(ModelLoad& load) { return text_model(parse_falcon_config(config_of(load)), load); }

std::unique_ptr<VisionLanguageModel> load_gemma3(ModelLoad& load) { return text_model(parse_gemma3_config(config_of(load)), load); }

std::unique_ptr<VisionLanguageModel> load_gemma4(ModelLoad& load) { return text_model(parse_gemma4_config(config_of(load)), load); }

std::unique_ptr<VisionLanguageModel> load_lfm2(ModelLoad& load) { return text_model(parse_lfm2_config(config_of(load)), load); }

}  // namespace winnow
