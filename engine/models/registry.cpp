#include "engine/models/registry.h"

#include <algorithm>
#include <array>

#include "engine/base/error.h"
#include "engine/base/json_document.h"
#include "engine/model_files/llava_repository.h"
#include "engine/models/causal_lm/causal_lm.h"
#include "engine/models/config_fields.h"
#include "engine/models/gemma3/gemma3.h"
#include "engine/models/internvl/internvl.h"
#include "engine/models/known_family.h"
#include "engine/models/llava/llava.h"
#include "engine/models/llava_onevision/llava_onevision.h"
#include "engine/models/model_load.h"
#include "engine/models/qwen2_vl/qwen2_vl.h"
#include "engine/models/qwen3_vl/qwen3_vl.h"
#include "engine/models/smolvlm/smolvlm.h"

namespace winnow {
namespace {

constexpr std::size_t kNameBytes = 256;

struct Family {
  const char* model_type;    // config.json: model_type
  const char* architecture;  // config.json: architectures[0]
  std::unique_ptr<VisionLanguageModel> (*load)(ModelLoad&);
  bool reads_videos = true;  // where it sees
};

constexpr auto kFamilies = std::to_array<Family>({
    {"llava_onevision", "LlavaOnevisionForConditionalGeneration", &load_llava_onevision},
    {"llava", "LlavaForConditionalGeneration", &load_llava, false},
    {"llava_next", "LlavaNextForConditionalGeneration", &load_llava, false},
    {"llava_next_video", "LlavaNextVideoForConditionalGeneration", &load_llava},
    {"qwen2_vl", "Qwen2VLForConditionalGeneration", &load_qwen2_vl},
    {"qwen2_5_vl", "Qwen2_5_VLForConditionalGeneration", &load_qwen2_vl},
    {"qwen3_vl", "Qwen3VLForConditionalGeneration", &load_qwen3_vl},
    {"qwen3_vl_moe", "Qwen3VLMoeForConditionalGeneration", &load_qwen3_vl},
    {"idefics3", "Idefics3ForConditionalGeneration", &load_smolvlm},
    {"smolvlm", "SmolVLMForConditionalGeneration", &load_smolvlm},
    {"internvl", "InternVLForConditionalGeneration", &load_internvl},
    {"internvl_chat", "InternVLChatModel", &load_internvl_chat},
    {"gemma3", "Gemma3ForConditionalGeneration", &load_gemma3_vision, false},
    {"llama", "LlamaForCausalLM", &load_causal_lm},
    {"mistral", "MistralForCausalLM", &load_causal_lm},
    {"mixtral", "MixtralForCausalLM", &load_causal_lm},
    {"qwen2", "Qwen2ForCausalLM", &load_causal_lm},
    {"qwen3", "Qwen3ForCausalLM", &load_causal_lm},
    {"qwen3_moe", "Qwen3MoeForCausalLM", &load_causal_lm},
    {"falcon", "FalconForCausalLM", &load_falcon},
    {"gemma3_text", "Gemma3ForCausalLM", &load_gemma3},
});

// architectures[0], or nothing where the file has no such list.
std::string architecture_of(const JsonObject& config) {
  if (!config.has("architectures")) return {};
  const Json& list = config.value("architectures");
  if (!list.is_array() || list.empty() || !list.front().is_string()) {
    config.refuse(ErrorCode::kDamagedFile, "architectures", "is not a list of names");
  }
  const auto& name = list.front().get_ref<const std::string&>();
  if (name.size() > kNameBytes) config.refuse(ErrorCode::kLimitExceeded, "architectures", "the name is too long");
  return name;
}

// The architecture names the class that saved the folder; model_type is only asked where that is missing. Null: none.
const Family* family_of(const JsonObject& config) {
  const std::string architecture = architecture_of(config);
  const std::string model_type = config.string("model_type", kNameBytes, "");
  const auto family = std::find_if(kFamilies.begin(), kFamilies.end(), [&](const Family& candidate) {
    return architecture.empty() ? model_type == candidate.model_type : architecture == candidate.architecture;
  });
  return family == kFamilies.end() ? nullptr : &*family;
}

}  // namespace

std::optional<KnownFamily> known_family(const JsonObject& config) {
  if (saved_by_llava_repository(config)) return KnownFamily{"llava_onevision", true, true};
  const Family* family = family_of(config);
  if (family == nullptr) return std::nullopt;
  const bool sees = config.has("vision_config");
  return KnownFamily{family->model_type, sees, sees && family->reads_videos};
}

std::vector<std::string> known_classes() {
  std::vector<std::string> names;
  for (const Family& each : kFamilies) names.emplace_back(each.architecture);
  return names;
}

std::unique_ptr<VisionLanguageModel> load_model(const ModelSource& source) {
  const std::optional<at::ScalarType>& type = source.plan.arithmetic;
  const bool half = type == at::kHalf;
  if (type && *type != at::kFloat && *type != at::kBFloat16 && !(half && !source.device.is_cpu())) {
    throw Exception(ErrorCode::kInvalidArgument, source.package->path(), "models run in fp32 or bf16, on a GPU also in fp16");
  }
  const JsonObject config = source.package->required(ModelPart::kConfig).root();
  const Family* family = family_of(config);
  if (family == nullptr) {
    const std::string architecture = architecture_of(config);
    const std::string model_type = config.string("model_type", kNameBytes, "");
    const std::string found = !architecture.empty() ? architecture : !model_type.empty() ? model_type : "no model type";
    throw Exception(ErrorCode::kUnsupportedModel, source.package->path(),
                    "the engine does not run " + printable_name(found) + " (winnow-cli probe lists what it runs)");
  }
  ModelLoad load(source);
  load.info.family = family->model_type;
  std::unique_ptr<VisionLanguageModel> model = family->load(load);
  model->set_info(load.described(model->text()));
  return model;
}

}  // namespace winnow
