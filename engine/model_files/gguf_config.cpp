#include "engine/model_files/gguf_config.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string_view>
#include <utility>

#include "engine/model_files/gguf_architectures.h"

namespace winnow {
namespace {

// How much queries grow with their position: llama.cpp's name for it, or Ollama's. 0: they do not.
double temperature(const GgufKeys& keys) {
  return keys.real(keys.has("attention.temperature_scale") ? "attention.temperature_scale" : "rope.scaling_beta", 0.0);
}

void refuse_what_a_decoder_lacks(const GgufKeys& keys, std::int64_t head_dim) {
  const bool of_glm = keys.is(GgufArchitecture::Glm::kExperts);
  const bool shares = !keys.keeps_states() && keys.integer("expert_shared_feed_forward_length", 0) > 0;
  if (!of_glm && (shares || keys.integer("expert_shared_count", 0) > 0)) keys.refuse("experts that every token goes through are not read");
  constexpr std::int64_t kSoftmax = 1;
  constexpr std::int64_t kSigmoid = 2;
  if (!of_glm && keys.integer("expert_gating_func", kSoftmax) > kSoftmax)
    keys.refuse("experts that are chosen by anything but a softmax are not read");
  if (const std::int64_t gating = keys.integer("expert_gating_func", kSigmoid); of_glm && gating != 0 && gating != kSigmoid)
    keys.refuse("experts of this architecture that are chosen by anything but sigmoids are not read");
  const bool ministral = std::string_view(keys.architecture().name) == "mistral3" && keys.string("rope.scaling.type", "") == "yarn";
  if (temperature(keys) != 0.0 && !ministral) keys.refuse("attention whose temperature changes with the length is not read");
  if (keys.integer("attention.value_length", head_dim) != head_dim) keys.refuse("keys and values of different sizes are not read");
  if (!keys.keeps_states() && !keys.of_glm() && keys.integer("rope.dimension_count", head_dim) != head_dim)
    keys.refuse("partial rotary positions are not read");
}

// The keys are llama.cpp's or Ollama's; Ollama's converter leaves out those of Qwen3-VL. Empty: one position is enough.
std::vector<std::int64_t> position_sections(const GgufKeys& keys) {
  for (const char* key : {"rope.dimension_sections", "rope.mrope_section", "mrope_sections"}) {
    if (keys.has(key)) return keys.integers(key);
  }
  const std::string_view name = keys.architecture().name;
  if (keys.has("vision.block_count") && name.starts_with("qwen3vl")) return {24, 20, 20};
  if (keys.has("vision.block_count") && name == "qwen25vl") return {16, 24, 24};
  return {};
}

bool has_layers_of_a_gemma3_that_sees(const GgufKeys& keys) {
  constexpr std::array<std::int64_t, 3> kOf4B12BAnd27B = {34, 48, 62};
  return std::ranges::find(kOf4B12BAnd27B, keys.integer("block_count")) != kOf4B12BAnd27B.end();
}

// The first files of Ollama's leave out what the 4B, 12B and 27B stretch positions by; later ones say the factor alone.
Json stretched_gemma3(const GgufKeys& keys) {
  const double factor = keys.real("rope.scaling.factor", has_layers_of_a_gemma3_that_sees(keys) ? 8.0 : 1.0);
  if (factor == 1.0 || factor == 0.0) return nullptr;
  return {{"rope_type", "linear"}, {"factor", factor}};
}

Json rope_scaling(const GgufKeys& keys, const GgufTensorFacts& tensors, std::int64_t positions) {
  if (!tensors.frequency_factors.empty()) {
    // Divisors of each frequency, as llama3's kind has them: the same numbers as longrope's factors, without its magnitude.
    return {{"rope_type", "longrope"},
            {"short_factor", tensors.frequency_factors},
            {"attention_factor", 1.0},
            {"original_max_position_embeddings", positions}};
  }
  if (std::vector<std::int64_t> sections = position_sections(keys); !sections.empty()) {
    // Sections are of time, height and width; the fourth is not used. Text alone has the same position on each, as if there were one.
    while (!sections.empty() && sections.back() == 0) sections.pop_back();
    return {{"rope_type", "default"}, {"mrope_section", sections}};
  }
  const std::string kind = keys.string("rope.scaling.type", "none");
  if (kind == "none" || kind.empty()) return keys.is(GgufArchitecture::Gemma::kThird) ? stretched_gemma3(keys) : Json();
  Json scaling = {{"rope_type", kind}};
  if (keys.has("rope.scaling.factor")) scaling["factor"] = keys.real("rope.scaling.factor", 1.0);
  if (keys.has("rope.scaling.original_context_length"))
    scaling["original_max_position_embeddings"] = keys.integer("rope.scaling.original_context_length");
  for (const auto& [ours, of_llama_cpp, of_ollama] :
       {std::array{"beta_fast", "rope.scaling.yarn_beta_fast", "rope.scaling.beta_fast"},
        std::array{"beta_slow", "rope.scaling.yarn_beta_slow", "rope.scaling.beta_slow"},
        std::array{"mscale_all_dim", "rope.scaling.yarn_log_multiplier", "rope.scaling.mscale_all_dim"}}) {
    const char* const key = keys.has(of_llama_cpp) ? of_llama_cpp : of_ollama;
    if (keys.has(key)) scaling[ours] = keys.real(key, 0.0);
  }
  if (const double strength = temperature(keys); strength > 0.0) {
    scaling["llama_4_scaling_beta"] = strength;
    scaling["rope_theta"] = keys.real("rope.freq_base", 1e6);
    // Both are one in published models, so no magnitude is left.
    if (scaling.contains("mscale_all_dim")) scaling["mscale"] = keys.real("rope.scaling.mscale", scaling["mscale_all_dim"].get<double>());
  }
  return scaling;
}

// A Llama with experts is a Mixtral. llama.cpp divides the weights of the chosen ones by their sum, whatever the file says.
void add_experts(const GgufKeys& keys, const GgufTensorFacts& tensors, Json& config) {
  const std::int64_t experts = keys.integer("expert_count", 0);
  const std::string type = config.at("model_type");
  const bool of_qwen = type == "qwen3_moe" || type == "qwen3_next" || type == "qwen3_5_moe_text";
  if ((experts == 0 && !of_qwen) || keys.is(GgufArchitecture::Gemma::kFourth) || keys.is(GgufArchitecture::Glm::kExperts)) return;
  if (!of_qwen && type != "llama") keys.refuse("models of this architecture with experts (mixture of experts) are not read");
  config["num_experts_per_tok"] = keys.integer("expert_used_count");
  config["norm_topk_prob"] = keys.boolean("norm_top_k_prob", true);  // Ollama's
  config[of_qwen ? "num_experts" : "num_local_experts"] = experts;
  if (of_qwen) {
    config["moe_intermediate_size"] = tensors.expert_rows > 0 ? keys.integer("expert_feed_forward_length", tensors.expert_rows)
                                                              : keys.integer("expert_feed_forward_length");
    if (keys.keeps_states()) config["shared_expert_intermediate_size"] = keys.integer("expert_shared_feed_forward_length");
  } else {
    config["architectures"] = {"MixtralForCausalLM"};
    config["model_type"] = "mixtral";
  }
}

// Which layers look back over a window.
Json layer_types(const GgufKeys& keys) {
  Json types = Json::array();
  for (const std::int64_t slides : keys.integers("attention.sliding_window_pattern"))
    types.push_back(slides != 0 ? "sliding_attention" : "full_attention");
  return types;
}

// Adds what llama.cpp knows of Gemma 3 beside its file: the MLP, the scale of queries, which layers look back over a window, and their
// positions.
void add_gemma3(const GgufKeys& keys, Json& config) {
  constexpr std::int64_t kLayersOf27B = 62;
  const std::int64_t heads = config.at("num_attention_heads");
  const bool by_width = config.at("num_hidden_layers") == kLayersOf27B && heads > 0;
  config["query_pre_attn_scalar"] =
      by_width ? config.at("hidden_size").get<std::int64_t>() / heads : config.at("head_dim").get<std::int64_t>();
  config["hidden_activation"] = "gelu_pytorch_tanh";
  // The second key is Ollama's, as is a list of layers; its first files have a limit of logits for the 1B, whose folder has none.
  config["rope_local_base_freq"] = keys.real(keys.has("rope.freq_base_swa") ? "rope.freq_base_swa" : "rope.local.freq_base", 10000.0);
  const std::int64_t window = keys.integer("attention.sliding_window", 0);
  if (window > 0 && keys.is_list("attention.sliding_window_pattern")) {
    config["layer_types"] = layer_types(keys);
  } else {
    config["sliding_window_pattern"] = window > 0 ? keys.integer("attention.sliding_window_pattern", 6) : 1;
  }
  if (window == 0) config.erase("sliding_window");
  constexpr std::int64_t kLayersOf1B = 26;
  const double cap = config.at("num_hidden_layers") == kLayersOf1B ? 0.0 : keys.real("final_logit_softcapping", 0.0);
  if (cap > 0.0) config["final_logit_softcapping"] = cap;
}

// The value that all layers of one kind share; 0: there are none.
std::int64_t same_in(const GgufKeys& keys, const std::vector<std::int64_t>& of_layers, const std::vector<std::int64_t>& slides, bool kind) {
  std::int64_t found = 0;
  for (std::size_t layer = 0; layer < std::min(of_layers.size(), slides.size()); ++layer) {
    if ((slides[layer] != 0) != kind) continue;
    if (found != 0 && of_layers[layer] != found) keys.refuse("layers of one kind that differ are not read");
    found = of_layers[layer];
  }
  return found;
}

// The share of a head's pairs that rotate. Factors of those that do not are as good as infinite.
double rotating_share(const GgufKeys& keys, const std::vector<float>& factors) {
  constexpr float kEndless = 1e20F;
  const auto first_still = std::ranges::find_if(factors, [](float factor) { return factor > kEndless; });
  const bool plain = std::all_of(factors.begin(), first_still, [](float factor) { return factor == 1.0F; }) &&
                     std::all_of(first_still, factors.end(), [](float factor) { return factor > kEndless; });
  if (!plain) keys.refuse("stretched positions beside such as do not rotate are not read");
  if (first_still == factors.end()) return 1.0;
  // Half a pair more, because the share is cut to whole pairs.
  return (static_cast<double>(first_still - factors.begin()) + 0.5) / static_cast<double>(factors.size());
}

// Which layers look back over a window, what differs in the others, and what the MLPs have beside them. llama.cpp knows, beside its file,
// that pictures see themselves where layers have no inputs of their own.
void add_gemma4(const GgufKeys& keys, const GgufTensorFacts& tensors, Json& config) {
  const std::int64_t layers = config.at("num_hidden_layers");
  const std::vector<std::int64_t> slides = keys.integers("attention.sliding_window_pattern");
  const std::vector<std::int64_t> kv_heads = keys.of_layers("attention.head_count_kv", layers);
  const std::int64_t full_size = config.at("head_dim");
  const std::int64_t full_kv_heads = same_in(keys, kv_heads, slides, false);
  const std::int64_t near_kv_heads = same_in(keys, kv_heads, slides, true);
  const std::int64_t near_size = keys.integer("attention.key_length_swa", full_size);
  if (keys.integer("attention.value_length_swa", near_size) != near_size ||
      keys.integer("rope.dimension_count_swa", near_size) != near_size)
    keys.refuse("keys under a window that differ from their values or rotate in part are not read");
  config["num_key_value_heads"] = near_kv_heads > 0 ? near_kv_heads : full_kv_heads;
  config["head_dim"] = near_size;
  config["global_head_dim"] = full_size;
  config["layer_types"] = layer_types(keys);
  for (std::size_t layer = 0; layer < slides.size(); ++layer) {
    if (slides[layer] == 0)
      config["per_layer_config"][std::to_string(layer)] = {{"head_dim", full_size}, {"num_key_value_heads", full_kv_heads}};
  }
  config["attention_k_eq_v"] = tensors.values_are_keys;
  const std::vector<std::int64_t> inner = keys.of_layers("feed_forward_length", layers);
  config["intermediate_size"] = inner.empty() ? 0 : inner.front();
  config["use_double_wide_mlp"] = !inner.empty() && inner.back() == 2 * inner.front();
  config["num_kv_shared_layers"] = keys.integer("attention.shared_kv_layers", 0);
  const std::int64_t inputs = keys.integer("embedding_length_per_layer_input", 0);
  config["hidden_size_per_layer_input"] = inputs;
  config["vocab_size_per_layer_input"] = config.at("vocab_size");
  config["pad_token_id"] = keys.padding_token();
  if (inputs == 0) config["use_bidirectional_attention"] = "vision";
  config["hidden_activation"] = "gelu_pytorch_tanh";
  if (const double cap = keys.real("final_logit_softcapping", 0.0); cap > 0.0) config["final_logit_softcapping"] = cap;
  config["rope_parameters"] = {{"full_attention",
                                {{"rope_type", "proportional"},
                                 {"rope_theta", keys.real("rope.freq_base", 1e6)},
                                 {"partial_rotary_factor", rotating_share(keys, tensors.frequency_factors)}}},
                               {"sliding_attention", {{"rope_type", "default"}, {"rope_theta", keys.real("rope.freq_base_swa", 10000.0)}}}};
  config.erase("rope_scaling");
  config.erase("rope_theta");
  if (const std::int64_t experts = keys.integer("expert_count", 0); experts > 0) {
    config["enable_moe_block"] = true;
    config["num_experts"] = experts;
    config["top_k_experts"] = keys.integer("expert_used_count");
    config["moe_intermediate_size"] = keys.integer("expert_feed_forward_length");
  }
}

std::int64_t key_value_heads(const GgufKeys& keys, std::int64_t fallback) {
  if (!keys.keeps_states() || !keys.is_list("attention.head_count_kv")) return keys.integer("attention.head_count_kv", fallback);
  const std::vector<std::int64_t> of_layers = keys.integers("attention.head_count_kv");
  return of_layers.empty() ? 0 : std::ranges::max(of_layers);
}

// How much of a head rotates.
void add_rotated_share(const GgufKeys& keys, Json& config) {
  const std::int64_t head_dim = config.at("head_dim");
  const std::int64_t rotated = keys.integer("rope.dimension_count", head_dim);
  Json& rope = config.at("rope_scaling");
  if (rope.is_null()) rope = {{"rope_type", "default"}};
  // Half an element more, because the share is cut to whole elements.
  rope["partial_rotary_factor"] = rotated < head_dim    ? (static_cast<double>(rotated) + 0.5) / static_cast<double>(head_dim)
                                  : rotated == head_dim ? 1.0
                                                        : 2.0;
}

// Which layers attend, the sizes of the others, and how much of a head rotates.
void add_states(const GgufKeys& keys, Json& config) {
  const std::int64_t layers = config.at("num_hidden_layers");
  if (keys.has("attention.recurrent_layers")) {
    Json types = Json::array();
    for (const std::int64_t recurrent : keys.integers("attention.recurrent_layers")) {
      if (std::ssize(types) < layers) types.push_back(recurrent != 0 ? "linear_attention" : "full_attention");
    }
    config["layer_types"] = types;
  } else if (keys.is_list("attention.head_count_kv")) {  // Ollama's: none in layers that keep a state
    Json types = Json::array();
    for (const std::int64_t attending : keys.integers("attention.head_count_kv"))
      types.push_back(attending == 0 ? "linear_attention" : "full_attention");
    config["layer_types"] = types;
  }
  config["full_attention_interval"] = keys.integer("full_attention_interval", 4);
  const std::int64_t value_heads = keys.integer("ssm.time_step_rank");
  const std::int64_t values = keys.integer("ssm.inner_size");
  config["linear_num_key_heads"] = keys.integer("ssm.group_count");
  config["linear_num_value_heads"] = value_heads;
  config["linear_key_head_dim"] = keys.integer("ssm.state_size");
  config["linear_value_head_dim"] = value_heads > 0 && values % value_heads == 0 ? values / value_heads : 0;
  config["linear_conv_kernel_dim"] = keys.integer("ssm.conv_kernel");
  config["linear_value_heads_in_turn"] = keys.architecture().states == GgufArchitecture::States::kInTurn;
  add_rotated_share(keys, config);
}

// Which layers attend: those that have KV heads. The MLP's size is the one that the folder's class computes.
void add_short_convs(const GgufKeys& keys, Json& config) {
  if (keys.integer("attention.sliding_window", 0) > 0) keys.refuse("short convolutions beside a sliding window are not read");
  const std::vector<std::int64_t> kv_heads = keys.of_layers("attention.head_count_kv", config.at("num_hidden_layers"));
  std::int64_t of_attention = 0;
  Json types = Json::array();
  for (const std::int64_t heads : kv_heads) {
    if (heads != 0 && of_attention != 0 && heads != of_attention) keys.refuse("layers of one kind that differ are not read");
    if (heads != 0) of_attention = heads;
    types.push_back(heads == 0 ? "conv" : "full_attention");
  }
  config["layer_types"] = types;
  config["num_key_value_heads"] = of_attention;
  config["conv_L_cache"] = keys.integer("shortconv.l_cache");
  config["norm_eps"] = config.at("rms_norm_eps");
  config["block_auto_adjust_ff_dim"] = false;
}

// If positions have several axes, llama.cpp's converter stores what rotates as halves; the folder has neighbours.
void add_glm(const GgufKeys& keys, const GgufTensorFacts& tensors, Json& config) {
  add_rotated_share(keys, config);
  if (keys.is(GgufArchitecture::Glm::kDense)) {
    config["rotary_pairs_in_halves"] = !position_sections(keys).empty();
    return;
  }
  config["n_routed_experts"] = keys.integer("expert_count");
  config["num_experts_per_tok"] = keys.integer("expert_used_count");
  config["moe_intermediate_size"] = keys.integer("expert_feed_forward_length");
  config["n_shared_experts"] = keys.integer("expert_shared_count", 0);
  config["n_group"] = std::max<std::int64_t>(1, keys.integer("expert_group_count", 1));
  config["topk_group"] = std::max<std::int64_t>(1, keys.integer("expert_group_used_count", 1));
  config["norm_topk_prob"] = keys.boolean("expert_weights_norm", false);
  const double factor = keys.real("expert_weights_scale", 0.0);
  config["routed_scaling_factor"] = factor > 0.0 ? factor : 1.0;
  config["use_qk_norm"] = tensors.query_norms;
}

// Granite's; without the first, attention is scaled as everywhere.
void add_multipliers(const GgufKeys& keys, std::int64_t head_dim, Json& config) {
  config["attention_multiplier"] = keys.real("attention.scale", 1.0 / std::sqrt(static_cast<double>(std::max<std::int64_t>(head_dim, 1))));
  config["embedding_multiplier"] = keys.real("embedding_scale", 1.0);
  config["residual_multiplier"] = keys.real("residual_scale", 1.0);
  config["logits_scaling"] = keys.real("logit_scale", 1.0);
}

}  // namespace

Json gguf_config(const GgufMetadata& metadata, const GgufTensorFacts& tensors, std::int64_t vocabulary) {
  const GgufKeys keys(metadata);
  const std::int64_t hidden = keys.integer("embedding_length");
  const std::int64_t heads = keys.integer("attention.head_count");
  const std::int64_t head_dim = keys.integer("attention.key_length", heads > 0 ? hidden / heads : 0);
  refuse_what_a_decoder_lacks(keys, head_dim);
  const std::int64_t positions = keys.integer("context_length");
  const bool only_experts = keys.keeps_states() && keys.integer("feed_forward_length", 0) == 0 && keys.has("expert_feed_forward_length");
  const bool by_layer = keys.is(GgufArchitecture::Gemma::kFourth);  // add_gemma4() has them
  const bool third = keys.is(GgufArchitecture::Gemma::kThird);      // whose files of Ollama's leave out what all of them have
  Json config = {
      {"architectures", {keys.architecture().class_name}},
      {"model_type", keys.architecture().model_type},
      {"hidden_size", hidden},
      {"intermediate_size", only_experts ? keys.integer("expert_feed_forward_length")
                            : by_layer   ? 0
                                         : keys.integer("feed_forward_length")},
      {"num_hidden_layers", keys.layers()},
      {"num_attention_heads", heads},
      {"num_key_value_heads", by_layer || keys.convolves() ? heads : key_value_heads(keys, heads)},
      {"head_dim", head_dim},
      {"rms_norm_eps", keys.real("attention.layer_norm_rms_epsilon", third ? 1e-6 : 1e-5)},
      {"rope_theta", keys.real("rope.freq_base", third ? keys.real("rope.global.freq_base", 1e6) : 10000.0)},
      {"rope_scaling", rope_scaling(keys, tensors, positions)},
      {"max_position_embeddings", positions},
      {"vocab_size", std::max(vocabulary, tensors.embedding_rows)},
      {"tie_word_embeddings", !tensors.has_output},
      {"hidden_act", "silu"},
  };
  add_experts(keys, tensors, config);
  if (const std::int64_t window = keys.integer("attention.sliding_window", 0); window > 0) {
    config["sliding_window"] = window;
    config["use_sliding_window"] = true;
    config["max_window_layers"] = 0;
  } else {
    config["sliding_window"] = nullptr;  // a Mistral that says nothing would have one
  }
  if (temperature(keys) != 0.0) {
    config["architectures"] = {"Ministral3ForCausalLM"};
    config["model_type"] = "ministral3";
    config["rope_parameters"] = std::exchange(config["rope_scaling"], nullptr);
  }
  if (keys.is(GgufArchitecture::Gemma::kThird)) add_gemma3(keys, config);
  if (keys.is(GgufArchitecture::Gemma::kFourth)) add_gemma4(keys, tensors, config);
  if (keys.keeps_states()) add_states(keys, config);
  if (keys.convolves()) add_short_convs(keys, config);
  if (keys.of_glm()) add_glm(keys, tensors, config);
  if (config["model_type"] == "granite") add_multipliers(keys, head_dim, config);
  return config;
}

Json gguf_generation(const GgufMetadata& metadata, const std::vector<std::string>& tokens) {
  // Converters name one end; what ends a turn is often another, which llama.cpp finds by its text, too.
  static const std::set<std::string_view> glm_ends = {"<|user|>", "<|observation|>", "</answer>"};  // "<|user|>" is a beginning elsewhere
  static const std::set<std::string_view> turn_ends = {
      "<|im_end|>", "<|eot_id|>", "<|eom_id|>",    "<|end|>",         "<end_of_turn>",        "<end_of_utterance>",
      "<turn|>",    "</s>",       "<|endoftext|>", "<|end_of_text|>", "<|END_OF_TURN_TOKEN|>"};
  const auto last = static_cast<std::int64_t>(tokens.size()) - 1;
  std::set<std::int64_t> ends;
  for (const char* key : {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"}) {
    if (metadata.has(key)) ends.insert(metadata.integer(key, 0, last));
  }
  constexpr const char* kSeveral = "tokenizer.ggml.eos_token_ids";  // Ollama's
  if (metadata.is_list(kSeveral)) {
    for (const std::int64_t end : metadata.integers(kSeveral))
      if (end >= 0 && end <= last) ends.insert(end);
  }
  const std::vector<std::int64_t> types =
      metadata.has("tokenizer.ggml.token_type") ? metadata.integers("tokenizer.ggml.token_type") : std::vector<std::int64_t>();
  constexpr std::int64_t kControl = 3;
  constexpr std::int64_t kUserDefined = 4;             // what a fine-tune has added
  const bool of_gemma = !adds_space_prefix(metadata);  // whose end Ollama's converter takes for an ordinary token
  const bool of_glm = GgufKeys(metadata).of_glm();
  for (std::size_t id = 0; id < std::min(tokens.size(), types.size()); ++id) {
    const bool ends_turn = types[id] == kControl || types[id] == kUserDefined || (of_gemma && tokens[id] == "<end_of_turn>");
    if (ends_turn && (turn_ends.contains(tokens[id]) || (of_glm && glm_ends.contains(tokens[id]))))
      ends.insert(static_cast<std::int64_t>(id));
  }
  Json generation = Json::object();
  if (!ends.empty()) generation["eos_token_id"] = std::vector<std::int64_t>(ends.begin(), ends.end());
  return generation;
}

bool adds_space_prefix(const GgufMetadata& metadata) { return !metadata.string("general.architecture", "").starts_with("gemma"); }

}  // namespace winnow
