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
  std::string projector;  // of a GGUF file: the file of its eyes that was named with it (LoadModel)
  std::string name;       // folder's last component
  std::string family;
  std::string device;       // "cpu" or "cuda"
  std::string dtype;        // "fp32", "bf16", "fp16": of the arithmetic; "fp32, Q4_1": and of what matrices are held in
  std::string device_note;  // why not the faster choice; empty if there is nothing to say
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t context_tokens = 0;
  std::int64_t visual_tokens_per_frame = 0;  // 0: it depends on the picture
  std::int64_t parameter_count = 0;
  std::int64_t weight_bytes = 0;
  std::int64_t kv_bytes_per_token = 0;  // all layers, K and V, uncompressed
  std::string time_instruction;         // of winnow.json, else of the model's own files; empty: none
  std::int64_t video_frames = 0;        // of winnow.json: of the longest videos that it was trained on; 0: not known
  SamplingChoice recommended;           // of generation_config.json; empty: it says nothing of sampling
  ModelTraits traits;
  bool thinks = false;           // its chat template knows marks around what the model thinks
  bool thinking_switch = false;  // and has a variable that says whether it shall
};

// The longest answer where nobody chose one: with room for what this model thinks before it.
inline int longest_answer(const ModelInfo& model, const Sampling& sampling) {
  constexpr std::int64_t kWithThoughts = 1024;
  if (!model.thinks || sampling.thought_tokens == 0) return Sampling().max_new_tokens;
  return static_cast<int>(std::max<std::int64_t>(Sampling().max_new_tokens, std::min(kWithThoughts, model.context_tokens / 4)));
}

}  // namespace winnow
