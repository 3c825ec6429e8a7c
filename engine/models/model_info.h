// What the program shows about a loaded model. Plain data, no torch; filled by engine/models, sent with ModelLoaded.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "engine/recipes/model_traits.h"
#include "engine/sampling/sampling.h"

namespace winnow {

struct ModelInfo {
  std::string folder;
  std::string projector;  // of a GGUF model: the mmproj file named in LoadModel
  std::string name;       // folder's last component
  std::string family;
  std::string device;       // "cpu" or "cuda"
  std::string dtype;        // of the arithmetic, "fp32", "bf16", "fp16"; with quantised matrices also their type, "fp32, Q4_1"
  std::string device_note;  // why a faster device or dtype was not used; usually empty
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t context_tokens = 0;
  std::int64_t visual_tokens_per_frame = 0;  // 0: depends on the picture
  std::int64_t parameter_count = 0;
  std::int64_t weight_bytes = 0;
  std::int64_t kv_bytes_per_token = 0;  // all layers, K and V, uncompressed
  std::string time_instruction;         // from winnow.json, else from the model's own files; empty: none
  std::int64_t video_frames = 0;        // from winnow.json: frames of the longest training videos; 0: unknown
  SamplingChoice recommended;           // from generation_config.json; empty: none
  ModelTraits traits;
  bool thinks = false;           // its chat template has markers for reasoning
  bool thinking_switch = false;  // its chat template has a variable that turns reasoning on or off
};

// The default limit of an answer, with room for this model's reasoning.
inline int longest_answer(const ModelInfo& model, const Sampling& sampling) {
  constexpr std::int64_t kWithThoughts = 1024;
  if (!model.thinks || sampling.thought_tokens == 0) return Sampling().max_new_tokens;
  return static_cast<int>(std::max<std::int64_t>(Sampling().max_new_tokens, std::min(kWithThoughts, model.context_tokens / 4)));
}

}  // namespace winnow
