#include "engine/model_files/gguf_config.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <string_view>
#include <utility>

#include "engine/base/error.h"
#include "engine/text/quoted_name.h"

namespace winnow {
namespace {

constexpr std::int64_t kMany = std::int64_t{1} << 40;  // the families have the real limits
constexpr double kLarge = 1e18;
constexpr std::int64_t kMostLayers = 4096;

struct Architecture {
  const char* name;        // general.architecture
  const char* class_name;  // config.json: architectures[0]
  const char* model_type;
  // Its q and k are rotated in adjacent pairs, and their rows stored in that order.
  bool interleaved;
  // Layers' norms have other names, and with the third other values.
  enum class Gemma : int { kNone, kThird, kFourth } gemma = Gemma::kNone;
  // Layers without slots between those that attend, and norms stored as Gemma's.
  enum class States : int { kNone, kByKeyHead, kInTurn } states = States::kNone;  // and the order of value heads: DeltaSizes::in_turn
  bool convolves = false;                                                         // short convolutions between layers that attend
};

constexpr std::array<Architecture, 17> kArchitectures = {{
    {"llama", "LlamaForCausalLM", "llama", true},
    {"internlm2", "LlamaForCausalLM", "llama", true},  // whose packed wqkv converters take apart: the rest is a Llama
    {"mistral3", "MistralForCausalLM", "mistral", true},
    {"qwen2", "Qwen2ForCausalLM", "qwen2", false},
    {"qwen2vl", "Qwen2ForCausalLM", "qwen2", false},   // text only; with an mmproj file see gguf_projector.h
    {"qwen25vl", "Qwen2ForCausalLM", "qwen2", false},  // Ollama's, for Qwen2.5-VL
    {"qwen3", "Qwen3ForCausalLM", "qwen3", false},
    {"qwen3moe", "Qwen3MoeForCausalLM", "qwen3_moe", false},
    {"qwen3vl", "Qwen3ForCausalLM", "qwen3", false},  // likewise
    {"qwen3vlmoe", "Qwen3MoeForCausalLM", "qwen3_moe", false},
    {"qwen3next", "Qwen3NextForCausalLM", "qwen3_next", false, Architecture::Gemma::kNone, Architecture::States::kByKeyHead},
    // The three likewise.
    {"qwen35", "Qwen3_5ForCausalLM", "qwen3_5_text", false, Architecture::Gemma::kNone, Architecture::States::kInTurn},
    {"qwen35moe", "Qwen3_5MoeForCausalLM", "qwen3_5_moe_text", false, Architecture::Gemma::kNone, Architecture::States::kInTurn},
    {"smollm3", "SmolLM3ForCausalLM", "smollm3", true},
    {"gemma3", "Gemma3ForCausalLM", "gemma3_text", false, Architecture::Gemma::kThird},  // as well
    {"gemma4", "Gemma4ForCausalLM", "gemma4_text", false, Architecture::Gemma::kFourth},
    {"lfm2", "Lfm2ForCausalLM", "lfm2", false, Architecture::Gemma::kNone, Architecture::States::kNone, true},
}};

// Metadata of one architecture: keys without its name in front.
class Keys {
 public:
  explicit Keys(const GgufMetadata& metadata) : metadata_(metadata) {
    const std::string name = metadata.string("general.architecture");
    const auto* found = std::ranges::find_if(kArchitectures, [&](const Architecture& each) { return name == each.name; });
    if (found == kArchitectures.end()) {
      refuse("the engine does not run the architecture " + quoted_name(name) + " (winnow-cli probe lists what it runs)");
    }
    architecture_ = found;
  }

  const Architecture& architecture() const { return *architecture_; }
  bool keeps_states() const { return architecture_->states != Architecture::States::kNone; }
  bool convolves() const { return architecture_->convolves; }
  bool is(Architecture::Gemma gemma) const { return architecture_->gemma == gemma; }
  std::string key(const char* name) const { return std::string(architecture_->name) + "." + name; }
  bool has(const char* name) const { return metadata_.has(key(name)); }
  std::int64_t integer(const char* name) const { return metadata_.integer(key(name), 0, kMany); }
  std::int64_t integer(const char* name, std::int64_t fallback) const { return metadata_.integer(key(name), 0, kMany, fallback); }
  double real(const char* name, double fallback) const { return metadata_.real(key(name), 0.0, kLarge, fallback); }
  bool is_list(const char* name) const { return metadata_.is_list(key(name)); }
  std::vector<std::int64_t> integers(const char* name) const { return metadata_.integers(key(name)); }
  // A number that stands for all layers, or a list of theirs.
  std::vector<std::int64_t> of_layers(const char* name, std::int64_t layers) const {
    if (metadata_.is_list(key(name))) return integers(name);
    return std::vector<std::int64_t>(static_cast<std::size_t>(std::clamp<std::int64_t>(layers, 1, kMostLayers)), integer(name));
  }
  std::int64_t padding_token() const { return metadata_.integer("tokenizer.ggml.padding_token_id", 0, kMany, 0); }
  bool boolean(const char* name, bool fallback) const { return metadata_.boolean(key(name), fallback); }
  std::string string(const char* name, const char* fallback) const { return metadata_.string(key(name), fallback); }
  [[noreturn]] void refuse(const std::string& reason) const {
    metadata_.refuse(ErrorCode::kUnsupportedModel, "general.architecture", reason);
  }

 private:
  const GgufMetadata& metadata_;
  const Architecture* architecture_ = nullptr;
};

// How much queries grow with their position: llama.cpp's name for it, or Ollama's. 0: they do not.
double temperature(const Keys& keys) {
  return keys.real(keys.has("attention.temperature_scale") ? "attention.temperature_scale" : "rope.scaling_beta", 0.0);
}

void refuse_what_a_decoder_lacks(const Keys& keys, std::int64_t head_dim) {
  const bool shares = !keys.keeps_states() && keys.integer("expert_shared_feed_forward_length", 0) > 0;
  if (shares || keys.integer("expert_shared_count", 0) > 0) keys.refuse("experts that every token goes through are not read");
  constexpr std::int64_t kSoftmax = 1;
  if (keys.integer("expert_gating_func", kSoftmax) > kSoftmax)
    keys.refuse("experts that are chosen by anything but a softmax are not read");
  const bool ministral = std::string_view(keys.architecture().name) == "mistral3" && keys.string("rope.scaling.type", "") == "yarn";
  if (temperature(keys) != 0.0 && !ministral) keys.refuse("attention whose temperature changes with the length is not read");
  if (keys.integer("attention.value_length", head_dim) != head_dim) keys.refuse("keys and values of different sizes are not read");
  if (!keys.keeps_states() && keys.integer("rope.dimension_count", head_dim) != head_dim)
    keys.refuse("partial rotary positions are not read");
}

// As llama.cpp or as Ollama calls them; Ollama's converter leaves out those of Qwen3-VL. Empty: one position is enough.
std::vector<std::int64_t> position_sections(const Keys& keys) {
  for (const char* key : {"rope.dimension_sections", "rope.mrope_section", "mrope_sections"}) {
    if (keys.has(key)) return keys.integers(key);
  }
  const std::string_view name = keys.architecture().name;
  if (keys.has("vision.block_count") && name.starts_with("qwen3vl")) return {24, 20, 20};
  if (keys.has("vision.block_count") && name == "qwen25vl") return {16, 24, 24};
  return {};
}

bool has_layers_of_a_gemma3_that_sees(const Keys& keys) {
  constexpr std::array<std::int64_t, 3> kOf4B12BAnd27B = {34, 48, 62};
  return std::ranges::find(kOf4B12BAnd27B, keys.integer("block_count")) != kOf4B12BAnd27B.end();
}

// The first files of Ollama's leave out what the 4B, 12B and 27B stretch positions by; later ones say the factor alone.
Json stretched_gemma3(const Keys& keys) {
  const double factor = keys.real("rope.scaling.factor", has_layers_of_a_gemma3_that_sees(keys) ? 8.0 : 1.0);
  if (factor == 1.0 || factor == 0.0) return nullptr;
  return {{"rope_type", "linear"}, {"factor", factor}};
}

Json rope_scaling(const Keys& keys, const GgufTensorFacts& tensors, std::int64_t positions) {
  if (!tensors.frequency_factors.empty()) {
    // Divisors of each frequency, as llama3's kind has them: the same numbers as longrope's factors, without its magnitude.
    return {{"rope_type", "longrope"},
            {"short_factor", tensors.frequency_factors},
            {"attention_factor", 1.0},
            {"original_max_position_embeddings", positions}};
  }
  if (std::vector<std::int64_t> sections = position_sections(keys); !sections.empty()) {
    // Of time, height and width; the fourth is not used. Text alone has the same position on each, as if there were one.
    while (!sections.empty() && sections.back() == 0) sections.pop_back();
    return {{"rope_type", "default"}, {"mrope_section", sections}};
  }
  const std::string kind = keys.string("rope.scaling.type", "none");
  if (kind == "none" || kind.empty()) return keys.is(Architecture::Gemma::kThird) ? stretched_gemma3(keys) : Json();
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
    // As published, both are one, and no magnitude is left.
    if (scaling.contains("mscale_all_dim")) scaling["mscale"] = keys.real("rope.scaling.mscale", scaling["mscale_all_dim"].get<double>());
  }
  return scaling;
}

// A Llama with experts is a Mixtral. llama.cpp divides the weights of the chosen ones by their sum, whatever the file says.
void add_experts(const Keys& keys, const GgufTensorFacts& tensors, Json& config) {
  const std::int64_t experts = keys.integer("expert_count", 0);
  const std::string type = config.at("model_type");
  const bool of_qwen = type == "qwen3_moe" || type == "qwen3_next" || type == "qwen3_5_moe_text";
  if ((experts == 0 && !of_qwen) || keys.is(Architecture::Gemma::kFourth)) return;
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

struct NameRule {
  std::string_view stored;
  std::string_view canonical;
};

constexpr std::array<NameRule, 7> kWholeNames = {{
    {"token_embd", "model.embed_tokens"},
    {"output_norm", "model.norm"},
    {"token_embd_norm", "model.embedding_norm"},  // LFM2's last norm
    {"output", "lm_head"},
    {"per_layer_token_embd", "model.embed_tokens_per_layer"},
    {"per_layer_model_proj", "model.per_layer_model_projection"},
    {"per_layer_proj_norm", "model.per_layer_projection_norm"},
}};

// Before those of kLayerNames.
constexpr std::array<NameRule, 3> kGemmaNorms = {{
    {"post_attention_norm", "post_attention_layernorm"},
    {"ffn_norm", "pre_feedforward_layernorm"},
    {"post_ffw_norm", "post_feedforward_layernorm"},
}};

// Of Gemma 4, before all others. Three names are whole.
constexpr std::array<NameRule, 11> kGemma4Names = {{
    {"ffn_gate_inp", "router.proj"},
    {"ffn_gate_up_exps", "experts.gate_up_proj"},
    {"ffn_gate_exps", "experts.gate_proj"},
    {"ffn_up_exps", "experts.up_proj"},
    {"ffn_down_exps", "experts.down_proj"},
    {"pre_ffw_norm_2", "pre_feedforward_layernorm_2"},
    {"post_ffw_norm_1", "post_feedforward_layernorm_1"},
    {"post_ffw_norm_2", "post_feedforward_layernorm_2"},
    {"inp_gate", "per_layer_input_gate"},
    {"proj", "per_layer_projection"},
    {"post_norm", "post_per_layer_input_norm"},
}};
constexpr std::array<NameRule, 3> kWholeGemma4Names = {{
    {"layer_output_scale.weight", "layer_scalar"},
    {"ffn_gate_inp.scale", "router.scale"},
    {"ffn_down_exps.scale", "router.per_expert_scale"},
}};

// Of models with layers that keep states, as well before those. Two names are whole.
constexpr std::array<NameRule, 13> kStateNames = {{
    {"post_attention_norm", "post_attention_layernorm"},
    {"attn_qkv", "linear_attn.in_proj_qkv"},
    {"attn_gate", "linear_attn.in_proj_z"},
    {"ssm_alpha", "linear_attn.in_proj_a"},
    {"ssm_beta", "linear_attn.in_proj_b"},
    {"ssm_ba", "linear_attn.in_proj_ba"},
    {"ssm_conv1d", "linear_attn.conv1d"},
    {"ssm_norm", "linear_attn.norm"},
    {"ssm_out", "linear_attn.out_proj"},
    {"ffn_gate_inp_shexp", "mlp.shared_expert_gate"},
    {"ffn_gate_shexp", "mlp.shared_expert.gate_proj"},
    {"ffn_up_shexp", "mlp.shared_expert.up_proj"},
    {"ffn_down_shexp", "mlp.shared_expert.down_proj"},
}};
constexpr std::array<NameRule, 3> kWholeStateNames = {{
    {"ssm_a", "linear_attn.A"},
    {"ssm_dt.bias", "linear_attn.dt_bias"},
    // Ollama's.
    {"ssm_dt", "linear_attn.dt_bias"},
}};

// Of LFM2, before those. Its last norm has a name that is the embedding's elsewhere.
constexpr std::array<NameRule, 11> kShortConvNames = {{
    {"attn_norm", "operator_norm"},
    {"attn_q_norm", "self_attn.q_layernorm"},
    {"attn_k_norm", "self_attn.k_layernorm"},
    {"attn_output", "self_attn.out_proj"},
    {"shortconv.conv", "conv.conv"},
    {"shortconv.in_proj", "conv.in_proj"},
    {"shortconv.out_proj", "conv.out_proj"},
    {"ffn_norm", "ffn_norm"},
    {"ffn_gate", "feed_forward.w1"},
    {"ffn_up", "feed_forward.w3"},
    {"ffn_down", "feed_forward.w2"},
}};

constexpr std::array<NameRule, 16> kLayerNames = {{
    {"attn_norm", "input_layernorm"},
    {"attn_q", "self_attn.q_proj"},
    {"attn_k", "self_attn.k_proj"},
    {"attn_v", "self_attn.v_proj"},
    {"attn_output", "self_attn.o_proj"},
    {"attn_q_norm", "self_attn.q_norm"},
    {"attn_k_norm", "self_attn.k_norm"},
    {"ffn_norm", "post_attention_layernorm"},
    {"ffn_gate", "mlp.gate_proj"},
    {"ffn_up", "mlp.up_proj"},
    {"ffn_down", "mlp.down_proj"},
    {"ffn_gate_inp", "mlp.gate"},
    {"ffn_gate_exps", "mlp.experts.gate_proj"},
    {"ffn_gate_up_exps", "mlp.experts.gate_up_proj"},
    {"ffn_up_exps", "mlp.experts.up_proj"},
    {"ffn_down_exps", "mlp.experts.down_proj"},
}};

template <std::size_t n>
std::optional<std::string> renamed(std::string_view stored, const std::array<NameRule, n>& rules) {
  const auto* found = std::ranges::find(rules, stored, &NameRule::stored);
  if (found == rules.end()) return std::nullopt;
  return std::string(found->canonical);
}

// Which layers look back over a window.
Json layer_types(const Keys& keys) {
  Json types = Json::array();
  for (const std::int64_t slides : keys.integers("attention.sliding_window_pattern"))
    types.push_back(slides != 0 ? "sliding_attention" : "full_attention");
  return types;
}

// What llama.cpp knows of Gemma 3 beside its file: the MLP, the scale of queries, which layers look back over a window, and their
// positions.
void add_gemma3(const Keys& keys, Json& config) {
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

// Of one kind of layers; 0: there are none.
std::int64_t same_in(const Keys& keys, const std::vector<std::int64_t>& of_layers, const std::vector<std::int64_t>& slides, bool kind) {
  std::int64_t found = 0;
  for (std::size_t layer = 0; layer < std::min(of_layers.size(), slides.size()); ++layer) {
    if ((slides[layer] != 0) != kind) continue;
    if (found != 0 && of_layers[layer] != found) keys.refuse("layers of one kind that differ are not read");
    found = of_layers[layer];
  }
  return found;
}

// The share of a head's pairs that rotate. Factors of those that do not are as good as infinite.
double rotating_share(const Keys& keys, const std::vector<float>& factors) {
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
void add_gemma4(const Keys& keys, const GgufTensorFacts& tensors, Json& config) {
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

std::int64_t key_value_heads(const Keys& keys, std::int64_t fallback) {
  if (!keys.keeps_states() || !keys.is_list("attention.head_count_kv")) return keys.integer("attention.head_count_kv", fallback);
  const std::vector<std::int64_t> of_layers = keys.integers("attention.head_count_kv");
  return of_layers.empty() ? 0 : std::ranges::max(of_layers);
}

// Layers, without those for guessing several tokens, which stand behind the others and are not read.
std::int64_t layers_of(const Keys& keys) {
  const std::int64_t guessing = keys.keeps_states() ? keys.integer("nextn_predict_layers", 0) : 0;
  return std::max<std::int64_t>(0, keys.integer("block_count") - guessing);
}

// Which layers attend, the sizes of the others, and how much of a head rotates.
void add_states(const Keys& keys, Json& config) {
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
  config["linear_value_heads_in_turn"] = keys.architecture().states == Architecture::States::kInTurn;
  const std::int64_t head_dim = config.at("head_dim");
  const std::int64_t rotated = keys.integer("rope.dimension_count", head_dim);
  Json& rope = config.at("rope_scaling");
  if (rope.is_null()) rope = {{"rope_type", "default"}};
  // Half an element more, because the share is cut to whole elements.
  rope["partial_rotary_factor"] = rotated < head_dim    ? (static_cast<double>(rotated) + 0.5) / static_cast<double>(head_dim)
                                  : rotated == head_dim ? 1.0
                                                        : 2.0;
}

// Which layers attend: those that have KV heads. The MLP's size is the one that the folder's class computes.
void add_short_convs(const Keys& keys, Json& config) {
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

}  // namespace

std::vector<std::string> known_gguf_architectures() {
  std::vector<std::string> names;
  for (const Architecture& each : kArchitectures) names.emplace_back(each.name);
  return names;
}

Json gguf_config(const GgufMetadata& metadata, const GgufTensorFacts& tensors, std::int64_t vocabulary) {
  const Keys keys(metadata);
  const std::int64_t hidden = keys.integer("embedding_length");
  const std::int64_t heads = keys.integer("attention.head_count");
  const std::int64_t head_dim = keys.integer("attention.key_length", heads > 0 ? hidden / heads : 0);
  refuse_what_a_decoder_lacks(keys, head_dim);
  const std::int64_t positions = keys.integer("context_length");
  const bool only_experts = keys.keeps_states() && keys.integer("feed_forward_length", 0) == 0 && keys.has("expert_feed_forward_length");
  const bool by_layer = keys.is(Architecture::Gemma::kFourth);  // add_gemma4() has them
  const bool third = keys.is(Architecture::Gemma::kThird);      // whose files of Ollama's leave out what all of them have
  Json config = {
      {"architectures", {keys.architecture().class_name}},
      {"model_type", keys.architecture().model_type},
      {"hidden_size", hidden},
      {"intermediate_size", only_experts ? keys.integer("expert_feed_forward_length")
                            : by_layer   ? 0
                                         : keys.integer("feed_forward_length")},
      {"num_hidden_layers", layers_of(keys)},
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
  if (keys.is(Architecture::Gemma::kThird)) add_gemma3(keys, config);
  if (keys.is(Architecture::Gemma::kFourth)) add_gemma4(keys, tensors, config);
  if (keys.keeps_states()) add_states(keys, config);
  if (keys.convolves()) add_short_convs(keys, config);
  return config;
}

Json gguf_generation(const GgufMetadata& metadata, const std::vector<std::string>& tokens) {
  // Converters name one end; what ends a turn is often another, which llama.cpp finds by its text, too.
  static const std::set<std::string_view> turn_ends = {"<|im_end|>", "<|eot_id|>", "<|eom_id|>",    "<|end|>",        "<end_of_turn>",
                                                       "<turn|>",    "</s>",       "<|endoftext|>", "<|end_of_text|>"};
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
  const bool of_gemma = !adds_space_prefix(metadata);  // whose end Ollama's converter takes for an ordinary token
  for (std::size_t id = 0; id < std::min(tokens.size(), types.size()); ++id) {
    const bool ends_turn = types[id] == kControl || (of_gemma && tokens[id] == "<end_of_turn>");
    if (ends_turn && turn_ends.contains(tokens[id])) ends.insert(static_cast<std::int64_t>(id));
  }
  Json generation = Json::object();
  if (!ends.empty()) generation["eos_token_id"] = std::vector<std::int64_t>(ends.begin(), ends.end());
  return generation;
}

bool adds_space_prefix(const GgufMetadata& metadata) { return !metadata.string("general.architecture", "").starts_with("gemma"); }

std::optional<std::string> hugging_face_name(const GgufMetadata& metadata, const std::string& stored) {
  constexpr std::string_view kBlock = "blk.";
  const std::size_t dot = stored.rfind('.');
  if (dot == std::string::npos) return std::nullopt;
  if (!stored.starts_with(kBlock)) {
    const auto whole = renamed(std::string_view(stored).substr(0, dot), kWholeNames);
    return whole ? std::optional(*whole + stored.substr(dot)) : std::nullopt;
  }
  const std::string_view rest = std::string_view(stored).substr(kBlock.size());
  const std::size_t end = rest.find('.');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string layer = "model.layers." + std::string(rest.substr(0, end)) + ".";
  const Keys keys(metadata);
  if (keys.keeps_states()) {
    std::int64_t number = 0;
    std::from_chars(rest.data(), rest.data() + end, number);
    if (number >= layers_of(keys)) return std::nullopt;
    if (auto name = renamed(rest.substr(end + 1), kWholeStateNames)) return layer + *name;
  }
  if (keys.is(Architecture::Gemma::kFourth)) {
    if (auto name = renamed(rest.substr(end + 1), kWholeGemma4Names)) return layer + *name;
  }
  if (kBlock.size() + end == dot) return std::nullopt;
  const std::string_view product = std::string_view(stored).substr(kBlock.size() + end + 1, dot - kBlock.size() - end - 1);
  const std::string ending = stored.substr(dot);  // ".weight", ".bias"
  if (keys.is(Architecture::Gemma::kFourth)) {
    if (auto name = renamed(product, kGemma4Names)) return layer + *name + ending;
  }
  if (!keys.is(Architecture::Gemma::kNone)) {
    if (auto name = renamed(product, kGemmaNorms)) return layer + *name + ending;
  }
  if (keys.keeps_states()) {
    if (auto name = renamed(product, kStateNames)) return layer + *name + ending;
  }
  if (keys.convolves()) {
    if (auto name = renamed(product, kShortConvNames)) return layer + *name + ending;
  }
  if (auto name = renamed(product, kLayerNames)) return layer + *name + ending;
  // Early files of Mixtral have a tensor for each expert: "ffn_up.3".
  const std::size_t expert = product.find('.');
  if (expert == std::string_view::npos) return std::nullopt;
  constexpr std::string_view kMlp = "mlp.";
  const auto name = renamed(product.substr(0, expert), kLayerNames);
  if (!name || !name->starts_with(kMlp)) return std::nullopt;
  return layer + "mlp.experts." + std::string(product.substr(expert + 1)) + "." + name->substr(kMlp.size()) + ending;
}

bool stored_with_one(const GgufMetadata& metadata, const std::string& canonical) {
  const Keys keys(metadata);
  return (keys.is(Architecture::Gemma::kThird) || keys.keeps_states()) && canonical.ends_with("norm.weight") &&
         !canonical.ends_with("linear_attn.norm.weight");
}

std::vector<std::int64_t> folder_shape(const std::string& canonical, std::vector<std::int64_t> stored) {
  const bool kernel = canonical.ends_with("linear_attn.conv1d.weight") || canonical.ends_with(".conv.conv.weight");
  if (kernel && stored.size() == 2) stored.insert(stored.begin() + 1, 1);
  if (canonical.ends_with("mlp.shared_expert_gate.weight") && stored.size() == 1) stored.insert(stored.begin(), 1);
  return stored;
}

std::int64_t interleaved_rows(const GgufMetadata& metadata, const std::string& canonical) {
  const Keys keys(metadata);
  if (!keys.architecture().interleaved) return 0;
  if (canonical.find(".self_attn.q_proj.") == std::string::npos && canonical.find(".self_attn.k_proj.") == std::string::npos) return 0;
  const std::int64_t heads = keys.integer("attention.head_count");
  return keys.integer("attention.key_length", heads > 0 ? keys.integer("embedding_length") / heads : 0);
}

}  // namespace winnow
