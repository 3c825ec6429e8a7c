// A language model as config.json describes it (`text_config` of a vision-language model), checked.
//
// Of the families whose decoder is transformer_decoder.h: read here for Llama, Mistral, Mixtral, Qwen2, Qwen3, Qwen3-MoE and the language
// half of Qwen2-VL, Qwen2.5-VL, Qwen3-VL and Qwen3-VL-MoE (whose rotary axes the family reads), told apart by what the file says; those
// with keys of their own have a reader of their own (causal_lm/falcon_config.h, gemma3_config.h). Zero heads, indivisible head counts,
// unknown activations and partial rotary positions are refused by name. Keys of both transformers 4 (rope_theta, rope_scaling) and 5
// (rope_parameters) are read. What a Llama or a Mistral leaves out is as transformers' LlamaConfig and MistralConfig have it: published
// folders say "_name_or_path" and little more. Which projections have biases is not said here: the weight names decide. Errors: as
// config_fields.h. No torch. Threads: plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/base/json_document.h"
#include "engine/kv_cache/rotary_scheme.h"
#include "engine/layers/activation.h"

namespace winnow {

enum class NormKind : int {
  kRms = 1,
  kLayer = 2,
  kCentredRms = 3,  // RMS, stored as what is added to one; in fp32 (Gemma)
};

// What the MLP of a layer reads, and when its output is added.
enum class MlpPlace : int {
  kAfterAttention = 1,  // the sum with the attention's output, under a norm of its own
  kBesideAttention,     // what the attention reads
  kBesideWithNorm,      // the layer's input, under a norm of its own
};

// Where an MLP is several of which each token goes through a few: those layers whose weights have a router.
struct ExpertConfig {
  std::int64_t count = 0;
  std::int64_t chosen = 0;  // of each token
  std::int64_t intermediate_size = 0;
  bool sums_to_one = true;  // the weights of the chosen ones
};

// How a decoder's tensors are called, layer by layer; the names of Llama, which most have.
struct DecoderNames {
  std::string_view embedding = "model.embed_tokens";
  std::string_view layers = "model.layers.";
  std::string_view final_norm = "model.norm";
  std::string_view input_norm = "input_layernorm";
  std::string_view query = "self_attn.q_proj";
  std::string_view key = "self_attn.k_proj";
  std::string_view value = "self_attn.v_proj";
  // One matrix for all three: for each kv head its queries' rows, then its own, key and value. Empty: there are three.
  std::string_view query_key_value{};
  std::string_view output = "self_attn.o_proj";
  std::string_view mlp_norm = "post_attention_layernorm";
  std::string_view attention_out_norm{};  // of what the attention, and the MLP, add to their input; empty: none
  std::string_view mlp_out_norm{};
  std::string_view gate = "mlp.gate_proj";  // empty: the MLP has none
  std::string_view up = "mlp.up_proj";
  std::string_view down = "mlp.down_proj";
};

struct DecoderConfig {
  std::int64_t hidden_size = 0;
  std::int64_t intermediate_size = 0;
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;  // even; hidden_size / heads unless the file says otherwise
  NormKind norm = NormKind::kRms;
  double norm_eps = 1e-6;
  MlpPlace mlp_place = MlpPlace::kAfterAttention;
  RotaryScheme rotary{10000.0};
  std::optional<RotaryScheme> window_rotary{};  // of layers with a window, where that is another
  double attention_scale = 0.0;                 // of the attention's logits; 0: 1 / sqrt(head_dim)
  double embedding_scale = 1.0;                 // of the tokens' embeddings, rounded to their type
  double logit_cap = 0.0;                       // c: logits are c tanh(x / c); 0: they are not bounded
  std::int64_t max_positions = 0;
  std::vector<std::int64_t> windows{};  // as KvShape's
  std::int64_t vocabulary = 0;
  bool tie_word_embeddings = false;
  bool query_key_norm = false;  // RMS norm of every head of q and k before they are rotated (Qwen3)
  Activation activation = Activation::kSilu;
  // Further hidden states that a token brings along (Qwen3-VL's deepstack): one is added behind each of the first layers.
  std::int64_t deepstack_layers = 0;
  std::optional<ExpertConfig> experts{};
  DecoderNames names{};
  std::vector<std::int64_t> eos_token_ids;  // of text_config; generation_config.json goes first
};

// Of every layer, whether it looks back over a window only, by layer_types; empty where the file has none.
std::vector<bool> read_layer_types(const JsonObject& text, std::int64_t layers);
// DecoderConfig::windows of such layers. A window that the positions stay within hides nothing.
std::vector<std::int64_t> windows_of(const std::vector<bool>& sliding, std::int64_t window, std::int64_t max_positions);

// assumed_type: where the file names no model_type.
DecoderConfig parse_decoder_config(const JsonObject& text, std::string_view assumed_type);

}  // namespace winnow
