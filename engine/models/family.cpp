#include "engine/models/family.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "engine/base/error.h"
#include "engine/model_files/llava_repository.h"
#include "engine/models/config_fields.h"
#include "engine/models/known_family.h"
#include "engine/text/quoted_name.h"

namespace winnow {
namespace {

constexpr std::size_t kNameBytes = 256;

constexpr auto kFamilies = std::to_array<Family>({
    {"llava_onevision", "LlavaOnevisionForConditionalGeneration", FamilyLoader::kLlavaOnevision},
    {"llava", "LlavaForConditionalGeneration", FamilyLoader::kLlava, false},
    {"llava_next", "LlavaNextForConditionalGeneration", FamilyLoader::kLlava, false},
    {"llava_next_video", "LlavaNextVideoForConditionalGeneration", FamilyLoader::kLlava},
    {"qwen2_vl", "Qwen2VLForConditionalGeneration", FamilyLoader::kQwen2Vl},
    {"qwen2_5_vl", "Qwen2_5_VLForConditionalGeneration", FamilyLoader::kQwen2Vl},
    {"qwen3_vl", "Qwen3VLForConditionalGeneration", FamilyLoader::kQwen3Vl},
    {"qwen3_vl_moe", "Qwen3VLMoeForConditionalGeneration", FamilyLoader::kQwen3Vl},
    {"qwen3_5", "Qwen3_5ForConditionalGeneration", FamilyLoader::kQwen35},
    {"qwen3_5_moe", "Qwen3_5MoeForConditionalGeneration", FamilyLoader::kQwen35},
    {"glm4v", "Glm4vForConditionalGeneration", FamilyLoader::kGlm4v},
    {"glm46v", "Glm46VForConditionalGeneration", FamilyLoader::kGlm4v},
    {"glm4v_moe", "Glm4vMoeForConditionalGeneration", FamilyLoader::kGlm4v},
    {"minicpmv4_6", "MiniCPMV4_6ForConditionalGeneration", FamilyLoader::kMiniCpmV},
    {"minicpmv4_7", "MiniCPMV4_7ForConditionalGeneration", FamilyLoader::kMiniCpmV},
    {"idefics3", "Idefics3ForConditionalGeneration", FamilyLoader::kSmolVlm},
    {"smolvlm", "SmolVLMForConditionalGeneration", FamilyLoader::kSmolVlm},
    {"internvl", "InternVLForConditionalGeneration", FamilyLoader::kInternVl},
    {"internvl_chat", "InternVLChatModel", FamilyLoader::kInternVlChat},
    {"gemma3", "Gemma3ForConditionalGeneration", FamilyLoader::kGemma3Vision, false},
    {"mistral3", "Mistral3ForConditionalGeneration", FamilyLoader::kMistral3, false},
    {"gemma4", "Gemma4ForConditionalGeneration", FamilyLoader::kGemma4Vision},
    {"gemma4_unified", "Gemma4UnifiedForConditionalGeneration", FamilyLoader::kGemma4Vision},
    {"lfm2_vl", "Lfm2VlForConditionalGeneration", FamilyLoader::kLfm2Vision, false},
    {"llama", "LlamaForCausalLM", FamilyLoader::kCausalLm},
    {"mistral", "MistralForCausalLM", FamilyLoader::kCausalLm},
    {"ministral3", "Ministral3ForCausalLM", FamilyLoader::kCausalLm},
    {"mixtral", "MixtralForCausalLM", FamilyLoader::kCausalLm},
    {"qwen2", "Qwen2ForCausalLM", FamilyLoader::kCausalLm},
    {"qwen3", "Qwen3ForCausalLM", FamilyLoader::kCausalLm},
    {"qwen3_moe", "Qwen3MoeForCausalLM", FamilyLoader::kCausalLm},
    {"qwen3_5_text", "Qwen3_5ForCausalLM", FamilyLoader::kCausalLm},
    {"qwen3_5_moe_text", "Qwen3_5MoeForCausalLM", FamilyLoader::kCausalLm},
    {"qwen3_next", "Qwen3NextForCausalLM", FamilyLoader::kCausalLm},
    {"smollm3", "SmolLM3ForCausalLM", FamilyLoader::kCausalLm},
    {"glm4", "Glm4ForCausalLM", FamilyLoader::kGlm4},
    {"glm4_moe", "Glm4MoeForCausalLM", FamilyLoader::kGlm4},
    {"falcon", "FalconForCausalLM", FamilyLoader::kFalcon},
    {"gemma3_text", "Gemma3ForCausalLM", FamilyLoader::kGemma3},
    {"gemma4_text", "Gemma4ForCausalLM", FamilyLoader::kGemma4},
    {"lfm2", "Lfm2ForCausalLM", FamilyLoader::kLfm2},
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

const Family& required_family(const JsonObject& config, const std::string& subject) {
  if (const Family* const family = family_of(config)) return *family;
  const std::string architecture = architecture_of(config);
  const std::string model_type = config.string("model_type", kNameBytes, "");
  const std::string found = !architecture.empty() ? architecture : !model_type.empty() ? model_type : "no model type";
  throw Exception(ErrorCode::kUnsupportedModel, subject,
                  "the engine does not run " + printable_name(found) + " (winnow-cli probe lists what it runs)");
}

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

}  // namespace winnow
