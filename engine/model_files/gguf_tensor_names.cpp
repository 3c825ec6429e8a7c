#include "engine/model_files/gguf_tensor_names.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "engine/model_files/gguf_architectures.h"
#include "engine/model_files/renamed_tensors.h"

namespace winnow {
namespace {

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

// Names of Gemma 4, tried before all others. Three names are whole.
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

// Names of models with layers that keep states, tried before the general ones, too. Two names are whole.
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

// The layer behind the last, which guesses, has the names of a draft head in Qwen3-Next's folders. Its embedding and output matrix, where
// a file has them, are the model's.
constexpr std::array<NameRule, 4> kDraftHeadNames = {{
    {"nextn.eh_proj", "mtp.fc"},
    {"nextn.enorm", "mtp.pre_fc_norm_embedding"},
    {"nextn.hnorm", "mtp.pre_fc_norm_hidden"},
    {"nextn.shared_head_norm", "mtp.norm"},
}};

// Names of LFM2, tried before those. Its last norm has a name that is the embedding's elsewhere.
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

// Names of GLM-4, tried before those.
constexpr std::array<NameRule, 3> kGlm4Names = {{
    {"post_attention_norm", "post_self_attn_layernorm"},
    {"ffn_up", "mlp.gate_up_proj"},
    {"post_ffw_norm", "post_mlp_layernorm"},
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

// Names of GLM-4.5, tried before those, too. One name is whole.
constexpr std::array<NameRule, 4> kGlm4MoeNames = {{
    {"post_attention_norm", "post_attention_layernorm"},
    {"ffn_gate_shexp", "mlp.shared_experts.gate_proj"},
    {"ffn_up_shexp", "mlp.shared_experts.up_proj"},
    {"ffn_down_shexp", "mlp.shared_experts.down_proj"},
}};
constexpr std::array<NameRule, 1> kWholeGlm4MoeNames = {{{"exp_probs_b.bias", "mlp.gate.e_score_correction_bias"}}};

template <std::size_t n>
std::optional<std::string> name_by_rule(std::string_view stored, const std::array<NameRule, n>& rules) {
  const auto* found = std::ranges::find(rules, stored, &NameRule::stored);
  if (found == rules.end()) return std::nullopt;
  return std::string(found->canonical);
}

}  // namespace

std::optional<std::string> hugging_face_name(const GgufMetadata& metadata, const std::string& stored) {
  constexpr std::string_view kBlock = "blk.";
  const std::size_t dot = stored.rfind('.');
  if (dot == std::string::npos) return std::nullopt;
  if (!stored.starts_with(kBlock)) {
    const auto whole = name_by_rule(std::string_view(stored).substr(0, dot), kWholeNames);
    return whole ? std::optional(*whole + stored.substr(dot)) : std::nullopt;
  }
  const std::string_view rest = std::string_view(stored).substr(kBlock.size());
  const std::size_t end = rest.find('.');
  if (end == std::string_view::npos) return std::nullopt;
  std::string layer = "model.layers." + std::string(rest.substr(0, end)) + ".";
  const GgufKeys keys(metadata);
  if (keys.keeps_states() || keys.of_glm()) {
    std::int64_t number = 0;
    std::from_chars(rest.data(), rest.data() + end, number);
    if (number > keys.layers()) return std::nullopt;
    if (number == keys.layers()) {
      const std::size_t own = kBlock.size() + end + 1;
      if (auto name = own < dot ? name_by_rule(std::string_view(stored).substr(own, dot - own), kDraftHeadNames) : std::nullopt)
        return *name + stored.substr(dot);
      layer = "mtp.layers.0.";
    }
  }
  if (keys.keeps_states()) {
    if (auto name = name_by_rule(rest.substr(end + 1), kWholeStateNames)) return layer + *name;
  }
  if (keys.is(GgufArchitecture::Gemma::kFourth)) {
    if (auto name = name_by_rule(rest.substr(end + 1), kWholeGemma4Names)) return layer + *name;
  }
  if (keys.is(GgufArchitecture::Glm::kExperts)) {
    if (auto name = name_by_rule(rest.substr(end + 1), kWholeGlm4MoeNames)) return layer + *name;
  }
  if (kBlock.size() + end == dot) return std::nullopt;
  const std::string_view product = std::string_view(stored).substr(kBlock.size() + end + 1, dot - kBlock.size() - end - 1);
  const std::string ending = stored.substr(dot);  // ".weight", ".bias"
  if (keys.is(GgufArchitecture::Gemma::kFourth)) {
    if (auto name = name_by_rule(product, kGemma4Names)) return layer + *name + ending;
  }
  if (!keys.is(GgufArchitecture::Gemma::kNone)) {
    if (auto name = name_by_rule(product, kGemmaNorms)) return layer + *name + ending;
  }
  if (keys.keeps_states()) {
    if (auto name = name_by_rule(product, kStateNames)) return layer + *name + ending;
  }
  if (keys.convolves()) {
    if (auto name = name_by_rule(product, kShortConvNames)) return layer + *name + ending;
  }
  if (keys.is(GgufArchitecture::Glm::kDense)) {
    if (auto name = name_by_rule(product, kGlm4Names)) return layer + *name + ending;
  }
  if (keys.is(GgufArchitecture::Glm::kExperts)) {
    if (auto name = name_by_rule(product, kGlm4MoeNames)) return layer + *name + ending;
  }
  if (auto name = name_by_rule(product, kLayerNames)) return layer + *name + ending;
  // Early files of Mixtral have a tensor for each expert: "ffn_up.3".
  const std::size_t expert = product.find('.');
  if (expert == std::string_view::npos) return std::nullopt;
  constexpr std::string_view kMlp = "mlp.";
  const auto name = name_by_rule(product.substr(0, expert), kLayerNames);
  if (!name || !name->starts_with(kMlp)) return std::nullopt;
  return layer + "mlp.experts." + std::string(product.substr(expert + 1)) + "." + name->substr(kMlp.size()) + ending;
}

bool stored_with_one(const GgufMetadata& metadata, const std::string& canonical) {
  const GgufKeys keys(metadata);
  return (keys.is(GgufArchitecture::Gemma::kThird) || keys.keeps_states()) &&
         (canonical.ends_with("norm.weight") || canonical.starts_with("mtp.pre_fc_norm_")) &&
         !canonical.ends_with("linear_attn.norm.weight");
}

std::vector<std::int64_t> folder_shape(const std::string& canonical, std::vector<std::int64_t> stored) {
  const bool kernel = canonical.ends_with("linear_attn.conv1d.weight") || canonical.ends_with(".conv.conv.weight");
  if (kernel && stored.size() == 2) stored.insert(stored.begin() + 1, 1);
  if (canonical.ends_with("mlp.shared_expert_gate.weight") && stored.size() == 1) stored.insert(stored.begin(), 1);
  return stored;
}

std::int64_t interleaved_rows(const GgufMetadata& metadata, const std::string& canonical) {
  const GgufKeys keys(metadata);
  if (!keys.architecture().interleaved) return 0;
  if (canonical.find(".self_attn.q_proj.") == std::string::npos && canonical.find(".self_attn.k_proj.") == std::string::npos) return 0;
  const std::int64_t heads = keys.integer("attention.head_count");
  return keys.integer("attention.key_length", heads > 0 ? keys.integer("embedding_length") / heads : 0);
}

}  // namespace winnow
