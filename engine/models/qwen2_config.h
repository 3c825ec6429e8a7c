// A Qwen2 language model as config.json describes it (`text_config` of a vision-language model), checked.
//
// Read by the families whose decoder is qwen2_decoder.h. Zero heads, indivisible head counts, unknown activations, other rotary scalings
// and sliding windows are refused by name. Keys of both transformers 4 (rope_theta) and 5 (rope_parameters) are read. Whether q/k/v have
// biases is not said here: the weight names decide. Errors: as config_fields.h. No torch. Threads: plain values.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/base/json_document.h"
#include "engine/kv_cache/rotary_scheme.h"
#include "engine/layers/activation.h"

namespace winnow {

struct Qwen2Config {
  std::int64_t hidden_size = 0;
  std::int64_t intermediate_size = 0;
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;  // even; hidden_size / heads unless the file says otherwise
  double rms_norm_eps = 1e-6;
  RotaryScheme rotary{10000.0, {}};
  std::int64_t max_positions = 32768;
  std::int64_t vocabulary = 0;
  bool tie_word_embeddings = false;
  Activation activation = Activation::kSilu;
  std::vector<std::int64_t> eos_token_ids;  // of text_config; generation_config.json goes first
};

Qwen2Config parse_qwen2_config(const JsonObject& text);

}  // namespace winnow
