#include "engine/model_files/gguf_architectures.h"

#include <algorithm>
#include <array>

#include "engine/base/error.h"
#include "engine/text/quoted_name.h"

namespace winnow {
namespace {

using Gemma = GgufArchitecture::Gemma;
using Glm = GgufArchitecture::Glm;
using States = GgufArchitecture::States;

constexpr std::int64_t kMany = std::int64_t{1} << 40;  // the families have the real limits
constexpr double kLarge = 1e18;

constexpr auto kArchitectures = std::to_array<GgufArchitecture>({
    {.name = "llama", .class_name = "LlamaForCausalLM", .model_type = "llama", .interleaved = true},
    // Converters take its packed wqkv apart: the rest is a Llama.
    {.name = "internlm2", .class_name = "LlamaForCausalLM", .model_type = "llama", .interleaved = true},
    {.name = "mistral3", .class_name = "MistralForCausalLM", .model_type = "mistral", .interleaved = true},
    {.name = "qwen2", .class_name = "Qwen2ForCausalLM", .model_type = "qwen2"},
    // This and other models with vision are text only here; with an mmproj file see gguf_projector.h.
    {.name = "qwen2vl", .class_name = "Qwen2ForCausalLM", .model_type = "qwen2"},
    {.name = "qwen25vl", .class_name = "Qwen2ForCausalLM", .model_type = "qwen2"},  // Ollama's, for Qwen2.5-VL
    {.name = "qwen3", .class_name = "Qwen3ForCausalLM", .model_type = "qwen3"},
    {.name = "qwen3moe", .class_name = "Qwen3MoeForCausalLM", .model_type = "qwen3_moe"},
    {.name = "qwen3vl", .class_name = "Qwen3ForCausalLM", .model_type = "qwen3"},
    {.name = "qwen3vlmoe", .class_name = "Qwen3MoeForCausalLM", .model_type = "qwen3_moe"},
    {.name = "qwen3next", .class_name = "Qwen3NextForCausalLM", .model_type = "qwen3_next", .states = States::kByKeyHead},
    {.name = "qwen35", .class_name = "Qwen3_5ForCausalLM", .model_type = "qwen3_5_text", .states = States::kInTurn},
    {.name = "qwen35moe", .class_name = "Qwen3_5MoeForCausalLM", .model_type = "qwen3_5_moe_text", .states = States::kInTurn},
    {.name = "smollm3", .class_name = "SmolLM3ForCausalLM", .model_type = "smollm3", .interleaved = true},
    {.name = "granite", .class_name = "GraniteForCausalLM", .model_type = "granite", .interleaved = true},
    {.name = "gemma3", .class_name = "Gemma3ForCausalLM", .model_type = "gemma3_text", .gemma = Gemma::kThird},
    {.name = "gemma4", .class_name = "Gemma4ForCausalLM", .model_type = "gemma4_text", .gemma = Gemma::kFourth},
    {.name = "lfm2", .class_name = "Lfm2ForCausalLM", .model_type = "lfm2", .convolves = true},
    {.name = "glm4", .class_name = "Glm4ForCausalLM", .model_type = "glm4", .glm = Glm::kDense},
    {.name = "glm4moe", .class_name = "Glm4MoeForCausalLM", .model_type = "glm4_moe", .glm = Glm::kExperts},
});

}  // namespace

std::vector<std::string> known_gguf_architectures() {
  std::vector<std::string> names;
  for (const GgufArchitecture& each : kArchitectures) names.emplace_back(each.name);
  return names;
}

GgufKeys::GgufKeys(const GgufMetadata& metadata) : metadata_(metadata) {
  const std::string name = metadata.string("general.architecture");
  const auto* found = std::ranges::find_if(kArchitectures, [&](const GgufArchitecture& each) { return name == each.name; });
  if (found == kArchitectures.end())
    refuse("the engine does not run the architecture " + quoted_name(name) + " (winnow-cli probe lists what it runs)");
  architecture_ = found;
}

std::int64_t GgufKeys::integer(const char* name) const { return metadata_.integer(key(name), 0, kMany); }

std::int64_t GgufKeys::integer(const char* name, std::int64_t fallback) const { return metadata_.integer(key(name), 0, kMany, fallback); }

double GgufKeys::real(const char* name, double fallback) const { return metadata_.real(key(name), 0.0, kLarge, fallback); }

std::vector<std::int64_t> GgufKeys::of_layers(const char* name, std::int64_t layers) const {
  if (is_list(name)) return integers(name);
  return std::vector<std::int64_t>(static_cast<std::size_t>(std::clamp<std::int64_t>(layers, 1, kMostLayers)), integer(name));
}

std::int64_t GgufKeys::padding_token() const { return metadata_.integer("tokenizer.ggml.padding_token_id", 0, kMany, 0); }

void GgufKeys::refuse(const std::string& reason) const { metadata_.refuse(ErrorCode::kUnsupportedModel, "general.architecture", reason); }

std::int64_t GgufKeys::layers() const {
  const std::int64_t guessing = keeps_states() || of_glm() ? integer("nextn_predict_layers", 0) : 0;
  return std::max<std::int64_t>(0, integer("block_count") - guessing);
}

}  // namespace winnow
