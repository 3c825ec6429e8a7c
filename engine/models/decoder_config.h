// A language model as config.json describes it (`text_config` of a vision-language model), checked.
//
// Read by the families whose decoder is transformer_decoder.h: Llama, Mistral, Qwen2 and Qwen3, told apart by what the file says. Zero
// heads, indivisible head counts, unknown activations and partial rotary positions are refused by name. Keys of both transformers 4
// (rope_theta, rope_scaling) and 5 (rope_parameters) are read. Which projections have biases is not said here: the weight names decide.
// Sliding windows: max_positions is at most the smallest window that a layer has, within which a window hides nothing. Errors: as
// config_fields.h. No torch. Threads: plain values.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/base/json_document.h"
#include "engine/kv_cache/rotary_scheme.h"
#include "engine/layers/activation.h"

namespace winnow {

struct DecoderConfig {
  std::int64_t hidden_size = 0;
  std::int64_t intermediate_size = 0;
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;  // even; hidden_size / heads unless the file says otherwise
  double rms_norm_eps = 1e-6;
  RotaryScheme rotary{10000.0};
  std::int64_t max_positions = 32768;
  std::int64_t vocabulary = 0;
  bool tie_word_embeddings = false;
  bool query_key_norm = false;  // RMS norm of every head of q and k before they are turned (Qwen3)
  Activation activation = Activation::kSilu;
  std::vector<std::int64_t> eos_token_ids;  // of text_config; generation_config.json goes first
};

// assumed_type: where the file names no model_type.
DecoderConfig parse_decoder_config(const JsonObject& text, std::string_view assumed_type);

}  // namespace winnow
