// The model families that the engine runs: one row each. A new family is a row here and a file in families/.
//
// Used by family.cpp and registry.cpp alone. No torch is needed to read it: names are copied from it while compiling (family.cpp), so that
// a program that only asks for a family's name links no loader. Plain table.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>

#include "engine/base/json_document.h"
#include "engine/models/known_family.h"

namespace winnow {

class ModelLoad;
class VisionLanguageModel;

// Reads the folder's configuration, then its weights. Errors: Exception; kUnsupportedModel, kDamagedFile naming file and key or the tensor;
// Interrupted. Threads: engine thread.
using LoadFamily = std::unique_ptr<VisionLanguageModel>(ModelLoad& load);

// Each is defined in its family's file.
LoadFamily load_llava_onevision;
LoadFamily load_llava;
LoadFamily load_qwen2_vl;
LoadFamily load_qwen3_vl;
LoadFamily load_qwen3_5;
LoadFamily load_glm4v;
LoadFamily load_minicpmv;
LoadFamily load_smolvlm;
LoadFamily load_internvl;
LoadFamily load_internvl_chat;
LoadFamily load_gemma3_vision;
LoadFamily load_mistral3;
LoadFamily load_gemma4_vision;
LoadFamily load_lfm2_vl;
LoadFamily load_causal_lm;
LoadFamily load_glm4;
LoadFamily load_falcon;
LoadFamily load_gemma3;
LoadFamily load_gemma4;
LoadFamily load_lfm2;

struct FamilyRow {
  const char* model_type;    // config.json: model_type
  const char* architecture;  // config.json: architectures[0]
  LoadFamily* load;
  bool reads_videos = true;  // where it sees
  BoxScale boxes = BoxScale::kNone;
};

inline constexpr auto kFamilies = std::to_array<FamilyRow>({
    {"llava_onevision", "LlavaOnevisionForConditionalGeneration", load_llava_onevision},
    {"llava", "LlavaForConditionalGeneration", load_llava, false},
    {"llava_next", "LlavaNextForConditionalGeneration", load_llava, false},
    {"llava_next_video", "LlavaNextVideoForConditionalGeneration", load_llava},
    {"qwen2_vl", "Qwen2VLForConditionalGeneration", load_qwen2_vl, true, BoxScale::kThousandths},
    {"qwen2_5_vl", "Qwen2_5_VLForConditionalGeneration", load_qwen2_vl, true, BoxScale::kReadPixels},
    {"qwen3_vl", "Qwen3VLForConditionalGeneration", load_qwen3_vl, true, BoxScale::kThousandths},
    {"qwen3_vl_moe", "Qwen3VLMoeForConditionalGeneration", load_qwen3_vl, true, BoxScale::kThousandths},
    {"qwen3_5", "Qwen3_5ForConditionalGeneration", load_qwen3_5, true, BoxScale::kThousandths},
    {"qwen3_5_moe", "Qwen3_5MoeForConditionalGeneration", load_qwen3_5, true, BoxScale::kThousandths},
    {"glm4v", "Glm4vForConditionalGeneration", load_glm4v, true, BoxScale::kThousandths},
    {"glm46v", "Glm46VForConditionalGeneration", load_glm4v, true, BoxScale::kThousandths},
    {"glm4v_moe", "Glm4vMoeForConditionalGeneration", load_glm4v, true, BoxScale::kThousandths},
    {"minicpmv4_6", "MiniCPMV4_6ForConditionalGeneration", load_minicpmv, true, BoxScale::kThousandths},
    {"minicpmv4_7", "MiniCPMV4_7ForConditionalGeneration", load_minicpmv, true, BoxScale::kThousandths},
    {"idefics3", "Idefics3ForConditionalGeneration", load_smolvlm},
    {"smolvlm", "SmolVLMForConditionalGeneration", load_smolvlm},
    {"internvl", "InternVLForConditionalGeneration", load_internvl, true, BoxScale::kThousandths},
    {"internvl_chat", "InternVLChatModel", load_internvl_chat, true, BoxScale::kThousandths},
    {"gemma3", "Gemma3ForConditionalGeneration", load_gemma3_vision, false},
    {"mistral3", "Mistral3ForConditionalGeneration", load_mistral3, false},
    {"gemma4", "Gemma4ForConditionalGeneration", load_gemma4_vision, true, BoxScale::kThousandths},
    {"gemma4_unified", "Gemma4UnifiedForConditionalGeneration", load_gemma4_vision, true, BoxScale::kThousandths},
    {"lfm2_vl", "Lfm2VlForConditionalGeneration", load_lfm2_vl, false, BoxScale::kThousandths},
    {"llama", "LlamaForCausalLM", load_causal_lm},
    {"mistral", "MistralForCausalLM", load_causal_lm},
    {"ministral3", "Ministral3ForCausalLM", load_causal_lm},
    {"mixtral", "MixtralForCausalLM", load_causal_lm},
    {"qwen2", "Qwen2ForCausalLM", load_causal_lm},
    {"qwen3", "Qwen3ForCausalLM", load_causal_lm},
    {"qwen3_moe", "Qwen3MoeForCausalLM", load_causal_lm},
    {"qwen3_5_text", "Qwen3_5ForCausalLM", load_causal_lm},
    {"qwen3_5_moe_text", "Qwen3_5MoeForCausalLM", load_causal_lm},
    {"qwen3_next", "Qwen3NextForCausalLM", load_causal_lm},
    {"smollm3", "SmolLM3ForCausalLM", load_causal_lm},
    {"granite", "GraniteForCausalLM", load_causal_lm},
    {"glm4", "Glm4ForCausalLM", load_glm4},
    {"glm4_moe", "Glm4MoeForCausalLM", load_glm4},
    {"falcon", "FalconForCausalLM", load_falcon},
    {"gemma3_text", "Gemma3ForCausalLM", load_gemma3},
    {"gemma4_text", "Gemma4ForCausalLM", load_gemma4},
    {"lfm2", "Lfm2ForCausalLM", load_lfm2},
});

// An index of kFamilies. Throws kUnsupportedModel about `subject` if the engine does not run such models.
std::size_t required_family(const JsonObject& config, const std::string& subject);

}  // namespace winnow
