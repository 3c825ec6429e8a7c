#include "engine/models/registry.h"

#include "engine/base/error.h"
#include "engine/device/own_mappings.h"
#include "engine/models/causal_lm/causal_lm.h"
#include "engine/models/family.h"
#include "engine/models/gemma3/gemma3.h"
#include "engine/models/gemma4/gemma4.h"
#include "engine/models/glm4v/glm4v.h"
#include "engine/models/internvl/internvl.h"
#include "engine/models/lfm2/lfm2_vl.h"
#include "engine/models/llava/llava.h"
#include "engine/models/llava_onevision/llava_onevision.h"
#include "engine/models/minicpmv/minicpmv.h"
#include "engine/models/mistral3/mistral3.h"
#include "engine/models/model_load.h"
#include "engine/models/qwen2_vl/qwen2_vl.h"
#include "engine/models/qwen3_5/qwen3_5.h"
#include "engine/models/qwen3_vl/qwen3_vl.h"
#include "engine/models/smolvlm/smolvlm.h"

namespace winnow {
namespace {

std::unique_ptr<VisionLanguageModel> load_with(FamilyLoader loader, ModelLoad& load) {
  switch (loader) {
    case FamilyLoader::kLlavaOnevision:
      return load_llava_onevision(load);
    case FamilyLoader::kLlava:
      return load_llava(load);
    case FamilyLoader::kQwen2Vl:
      return load_qwen2_vl(load);
    case FamilyLoader::kQwen3Vl:
      return load_qwen3_vl(load);
    case FamilyLoader::kQwen35:
      return load_qwen3_5(load);
    case FamilyLoader::kGlm4v:
      return load_glm4v(load);
    case FamilyLoader::kMiniCpmV:
      return load_minicpmv(load);
    case FamilyLoader::kSmolVlm:
      return load_smolvlm(load);
    case FamilyLoader::kInternVl:
      return load_internvl(load);
    case FamilyLoader::kInternVlChat:
      return load_internvl_chat(load);
    case FamilyLoader::kGemma3Vision:
      return load_gemma3_vision(load);
    case FamilyLoader::kMistral3:
      return load_mistral3(load);
    case FamilyLoader::kGemma4Vision:
      return load_gemma4_vision(load);
    case FamilyLoader::kLfm2Vision:
      return load_lfm2_vl(load);
    case FamilyLoader::kCausalLm:
      return load_causal_lm(load);
    case FamilyLoader::kGlm4:
      return load_glm4(load);
    case FamilyLoader::kFalcon:
      return load_falcon(load);
    case FamilyLoader::kGemma3:
      return load_gemma3(load);
    case FamilyLoader::kGemma4:
      return load_gemma4(load);
    case FamilyLoader::kLfm2:
      return load_lfm2(load);
  }
  throw Exception(ErrorCode::kInternal, load.package().path(), "a family without a loader");
}

}  // namespace

std::unique_ptr<VisionLanguageModel> load_model(const ModelSource& source) {
  const std::optional<at::ScalarType>& type = source.plan.arithmetic;
  const bool half = type == at::kHalf;
  if (type && *type != at::kFloat && *type != at::kBFloat16 && !(half && !source.device.is_cpu())) {
    throw Exception(ErrorCode::kInvalidArgument, source.package->path(), "models run in fp32 or bf16, on a GPU also in fp16");
  }
  const Family& family = required_family(source.package->required(ModelPart::kConfig).root(), source.package->path());
  const OwnMappings mappings;
  ModelLoad load(source);
  load.info.family = family.model_type;
  std::unique_ptr<VisionLanguageModel> model = load_with(family.loader, load);
  model->set_info(load.described(model->text()));
  return model;
}

}  // namespace winnow
