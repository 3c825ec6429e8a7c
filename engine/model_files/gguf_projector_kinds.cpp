#include "engine/model_files/gguf_projector_kinds.h"

#include <algorithm>
#include <array>

namespace winnow {

std::span<const ProjectorKind> projector_kinds() {
  static const std::vector<ProjectorKind> known = [] {
    std::vector<ProjectorKind> all;
    for (const auto& kinds : {smolvlm_projectors(), qwen_vl_projectors(), llava_projectors(), internvl_projectors(), gemma3_projectors(),
                              gemma4_projectors(), glm4v_projectors(), lfm2_projectors(), minicpmv_projectors(), pixtral_projectors()})
      all.insert(all.end(), kinds.begin(), kinds.end());
    return all;
  }();
  return known;
}

std::span<const NameRule> siglip_layer_names() {
  static constexpr std::array<NameRule, 8> kRules = {{
      {"ln1", "layer_norm1"},
      {"ln2", "layer_norm2"},
      {"attn_q", "self_attn.q_proj"},
      {"attn_k", "self_attn.k_proj"},
      {"attn_v", "self_attn.v_proj"},
      {"attn_out", "self_attn.out_proj"},
      {"ffn_up", "mlp.fc1"},
      {"ffn_down", "mlp.fc2"},
  }};
  return kRules;
}

std::span<const NameRule> gated_layer_names() {
  static constexpr std::array<NameRule, 10> kNames = {{
      {"ln1", "norm1"},
      {"ln2", "norm2"},
      {"attn_qkv", "attn.qkv"},
      {"attn_q", "attn.q"},
      {"attn_k", "attn.k"},
      {"attn_v", "attn.v"},
      {"attn_out", "attn.proj"},
      {"ffn_gate", "mlp.gate_proj"},
      {"ffn_up", "mlp.up_proj"},
      {"ffn_down", "mlp.down_proj"},
  }};
  return kNames;
}

Json siglip_config(const ProjectorFacts& facts) {
  return {{"hidden_size", facts.integer("embedding_length")},
          {"intermediate_size", facts.integer("feed_forward_length")},
          {"num_hidden_layers", facts.integer("block_count")},
          {"num_attention_heads", facts.integer("attention.head_count")},
          {"image_size", facts.integer("image_size")},
          {"patch_size", facts.integer("patch_size")},
          {"layer_norm_eps", facts.real("attention.layer_norm_epsilon", 1e-6)}};
}

std::int64_t square_px(const ProjectorFacts& facts, std::int64_t patches) {
  constexpr std::int64_t kMostPx = 4096;
  const std::int64_t side = std::min(facts.integer("patch_size"), kMostPx) * std::min(patches, kMostPx);
  return side * side;
}

std::int64_t token_id(const ProjectorKind::Tokens& tokens, std::string_view token) {
  return std::ranges::find(tokens, token) - tokens.begin();
}

std::optional<std::string> renamed(std::string_view stored, std::span<const NameRule> rules) {
  const auto found = std::ranges::find(rules, stored, &NameRule::stored);
  if (found == rules.end()) return std::nullopt;
  return std::string(found->canonical);
}

std::optional<std::string> name_in_folder(const ProjectorKind& kind, const ProjectorFacts& facts, const std::string& stored) {
  // A rule of "a.weight" is one of "a.weight.1".
  if (const auto name = renamed(stored, kind.whole); name && !stored.ends_with(".weight")) return name;
  if (const auto name = kind.further_name == nullptr ? std::nullopt : kind.further_name(facts, stored)) return name;
  const std::size_t dot = stored.rfind('.');
  if (dot == std::string::npos) return std::nullopt;
  const std::string_view part = std::string_view(stored).substr(0, dot);
  const std::string ending = part.ends_with(".weight") ? ".weight" : stored.substr(dot);
  if (const auto name = renamed(part, kind.whole)) return *name + ending;
  constexpr std::string_view kBlock = "v.blk.";
  if (!part.starts_with(kBlock)) return std::nullopt;
  const std::string_view rest = part.substr(kBlock.size());
  const std::size_t end = rest.find('.');
  if (end == std::string_view::npos) return std::nullopt;
  std::string_view product = rest.substr(end + 1);
  if ((product == "ffn_up" || product == "ffn_down") && facts.products_are_swapped()) product = product == "ffn_up" ? "ffn_down" : "ffn_up";
  const auto inside = renamed(product, kind.layer);
  if (!inside) return std::nullopt;
  return std::string(kind.layer_prefix).append(rest.substr(0, end)).append(".").append(*inside) + ending;
}

}  // namespace winnow
