// The configuration of a language model, read from config.json (`text_config` of a vision-language model) and checked.
//
// Describes transformer_decoder.h. Read here for Llama, Mistral, Mixtral, Ministral 3, Qwen2, Qwen3, Qwen3-MoE, Qwen3-Next, Qwen3.5,
// SmolLM3, Granite and the decoders of Qwen2-VL, Qwen2.5-VL, Qwen3-VL, Qwen3.5, GLM-4V and MiniCPM-V, whose families read their rotary
// axes. GLM-4's reader (families/glm4v_config.h) adds to this one. Falcon, Gemma 3, Gemma 4 and LFM2 have readers of their own
// (families/falcon_config.h, gemma3_text_config.h, gemma4_text_config.h, lfm2_text_config.h). Zero heads, indivisible head counts,
// unknown activations and partial rotary embeddings are refused by name. Qwen3-Next's, Qwen3.5's and LFM2's have layers without slots
// between their attention layers. Keys of both transformers 4 (rope_theta, rope_scaling) and 5 (rope_parameters) are read. Missing fields
// of a Llama or Mistral take the defaults of LlamaConfig and MistralConfig, because published folders say "_name_or_path" and little more.
// The weight names, not this file, decide which projections have biases. Errors: as config_fields.h. No torch. Threads: plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/base/json_document.h"
#include "engine/kv_cache/rotary_scheme.h"
#include "engine/layers/activation.h"
#include "engine/layers/delta_sizes.h"
#include "engine/models/config/head_order.h"

namespace winnow {

enum class NormKind : int {
  kRms = 1,
  kLayer = 2,
  kCentredRms = 3,  // RMS with weights stored as w - 1; in fp32 (Gemma)
  kWideRms = 4,     // RMS in fp32 (Gemma 4)
};

// The input of a layer's MLP, and when its output is added.
enum class MlpPlace : int {
  kAfterAttention = 1,  // sequential: reads the sum with the attention's output, with its own norm
  kBesideAttention,     // parallel: shares the attention's normalised input
  kBesideWithNorm,      // parallel: reads the layer's input with its own norm
};

// How a router chooses by sigmoids (layers/mlp.h).
struct SigmoidRouting {
  std::int64_t groups = 1;  // of at least two experts each
  std::int64_t chosen_groups = 1;
  double factor = 1.0;
};

// Mixture of experts, in layers whose weights have a router.
struct ExpertConfig {
  std::int64_t count = 0;
  std::int64_t chosen = 0;  // experts per token
  std::int64_t intermediate_size = 0;
  bool sums_to_one = true;       // the chosen experts' weights are normalised
  std::int64_t shared_size = 0;  // of the expert that every token goes through; 0: none
  bool shared_gate = true;       // it has a gate of its own
  std::optional<SigmoidRouting> sigmoid{};
};

// Queries grow with their position p: times 1 + strength * log(1 + floor(p / step)) (Ministral 3, after Llama 4).
struct QueryGrowth {
  double strength = 0.0;
  std::int64_t step = 1;
};

// Sizes of what layers add after their MLP (layer_inputs.h).
struct LayerInputSizes {
  std::int64_t size = 0;        // of a layer's input
  std::int64_t vocabulary = 0;  // of the table
  std::int64_t pixels_id = 0;   // the token that the table is asked for in the place of pixels
};

// Layers with a window whose KV heads are of another number or size than the others' (Gemma 4 from 12B on): those that rotate otherwise.
struct SlidingHeads {
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t window = 0;  // less than max_positions
};

// Layers without slots that convolve the last few tokens (LFM2).
struct ShortConvSizes {
  std::int64_t kernel = 0;  // tokens under the convolution, the own one included; at least 2
  bool biased = false;      // the convolution, and the products before and behind it
};

// Names of a decoder's tensors; the defaults are Llama's, which most share.
struct DecoderNames {
  std::string_view embedding = "model.embed_tokens";
  std::string_view layers = "model.layers.";
  std::string_view final_norm = "model.norm";
  std::string_view input_norm = "input_layernorm";
  std::string_view query = "self_attn.q_proj";
  std::string_view key = "self_attn.k_proj";
  std::string_view value = "self_attn.v_proj";
  // A fused matrix: for each kv head the rows of its queries, its key and its value. Empty: three matrices.
  std::string_view query_key_value{};
  std::string_view query_norm = "self_attn.q_norm";
  std::string_view key_norm = "self_attn.k_norm";
  std::string_view output = "self_attn.o_proj";
  std::string_view mlp_norm = "post_attention_layernorm";
  std::string_view attention_out_norm{};  // norms of the outputs of attention and MLP before they are added; empty: none
  std::string_view mlp_out_norm{};
  std::string_view gate_up{};               // gate and up in one matrix, gate first; empty: two matrices
  std::string_view gate = "mlp.gate_proj";  // empty: a plain MLP
  std::string_view up = "mlp.up_proj";
  std::string_view down = "mlp.down_proj";
  std::string_view shared_expert = "shared_expert";  // of a mixture of experts
  std::string_view mixer = "linear_attn";            // of a layer without slots: what its tensors' names begin with
  std::string_view model = "model.";                 // of what belongs to no layer (layer_inputs.h)
};

struct DecoderConfig {
  std::int64_t hidden_size = 0;
  std::int64_t intermediate_size = 0;
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;  // even; default hidden_size / heads
  NormKind norm = NormKind::kRms;
  double norm_eps = 1e-6;
  MlpPlace mlp_place = MlpPlace::kAfterAttention;
  RotaryScheme rotary{10000.0};
  RotaryPairs pairs = RotaryPairs::kHalves;  // as q and k are stored
  // For the layers that rotate otherwise: Gemma 3's that look back over a window; SmolLM3's that do not rotate (theta 0).
  std::optional<RotaryScheme> other_rotary{};
  std::vector<bool> rotated_otherwise{};  // for each layer; empty: none
  std::optional<QueryGrowth> query_growth{};
  // The size of a head in layers that rotate otherwise, less than head_dim (narrow_heads.h); 0: the same.
  std::int64_t other_head_dim = 0;
  double attention_scale = 0.0;  // of attention logits; 0: 1 / sqrt(head_dim)
  double embedding_scale = 1.0;  // of token embeddings, rounded to their dtype
  double input_scale = 1.0;      // of every row before the first layer, those of pixels, too (Granite)
  double residual_scale = 1.0;   // of what attention and MLP add to a row (Granite)
  double logit_divisor = 1.0;    // (Granite)
  double logit_cap = 0.0;        // c: logits are c tanh(x / c); 0: uncapped
  std::int64_t max_positions = 0;
  std::vector<std::int64_t> windows{};  // as KvShape's
  std::int64_t vocabulary = 0;
  bool tie_word_embeddings = false;
  bool query_key_norm = false;  // RMS norm of every head of q and k before they are rotated (Qwen3)
  bool value_norm = false;      // RMS norm of every head of v, without weights (Gemma 4)
  bool value_is_key = false;    // layers that rotate by `rotary` have no v_proj: values are keys, before the keys' norm (Gemma 4)
  bool output_gate = false;     // q_proj has each head's gate of the attention's output behind its query (Qwen3.5)
  // Layers without slots (Qwen3.5, LFM2): for each layer whether it is one. Empty: none.
  std::vector<bool> recurrent{};
  std::optional<ShortConvSizes> short_conv{};  // what each is; else a gated delta rule
  DeltaSizes delta{};
  // At the end so many layers have no keys and values of their own: they read those of the last layer before them that rotates as they do
  // (Gemma 4). Their MLPs have a size of their own.
  std::int64_t borrowing_layers = 0;
  std::int64_t borrowing_intermediate_size = 0;
  // Their slots lie beside the others' (KvShape::sliding), of which kv_heads, head_dim and windows are.
  std::optional<SlidingHeads> sliding{};
  bool layer_factor = false;                      // layers end with a factor
  std::optional<LayerInputSizes> layer_inputs{};  // and add an input of their own before it
  Activation activation = Activation::kSilu;
  // Deepstack features of a vision token (Qwen3-VL): one is added after each of the first so many layers.
  std::int64_t deepstack_layers = 0;
  std::optional<ExpertConfig> experts{};
  std::optional<ExpertConfig> experts_beside{};  // in every layer, beside the MLP (experts_beside.h)
  DecoderNames names{};

  // The state of each layer without slots.
  StateShape state() const { return short_conv ? StateShape{0, 0, 0, short_conv->kernel - 1, hidden_size} : delta.state(); }
  // True if the elements of heads of q and k are held in another order than they are stored (head_order.h).
  bool reorders_heads() const { return rotary.rotated != 0 || pairs == RotaryPairs::kNeighbours; }
};

// Per layer, whether layer_types has it of the `other` kind and not "full_attention"; empty if the file has none.
std::vector<bool> read_layer_types(const JsonObject& text, std::int64_t layers, std::string_view other = "sliding_attention");
// DecoderConfig::windows of such layers. A window of at least max_positions counts as none.
std::vector<std::int64_t> windows_of(const std::vector<bool>& sliding, std::int64_t window, std::int64_t max_positions);

// assumed_type: the model_type of files that name none.
DecoderConfig parse_decoder_config(const JsonObject& text, std::string_view assumed_type);

}  // namespace winnow
