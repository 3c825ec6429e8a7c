// How a decoder reads mixtures of experts: each file has their matrices in its own way.
#include <cmath>
#include <utility>
#include <vector>

#include "engine/models/decoder/transformer_decoder.h"

namespace winnow {

ExpertMlp TransformerDecoder::with_experts(ExpertMlp mlp, std::vector<Linear> first, std::vector<Linear> last) const {
  for (std::size_t expert = 0; expert < first.size(); ++expert)
    mlp.experts.push_back({std::move(first[expert]), std::move(last[expert]), config_.activation});
  return mlp;
}

ExpertMlp TransformerDecoder::read_experts(WeightReader& weights, const std::string& prefix) const {
  const ExpertConfig& config = *config_.experts;
  const std::int64_t hidden = config_.hidden_size;
  ExpertMlp mlp;
  mlp.chosen = config.chosen;
  mlp.sums_to_one = config.sums_to_one;
  if (const auto& sigmoid = config.sigmoid) {
    mlp.router.weight = LinearWeight(weights.fp32_tensor(prefix + "gate.weight", {config.count, hidden}));
    const at::Tensor bias = weights.fp32_tensor(prefix + "gate.e_score_correction_bias", {config.count});
    mlp.sigmoid = {bias, sigmoid->groups, sigmoid->chosen_groups, sigmoid->factor};
  } else {
    mlp.router = weights.linear(prefix + "gate", config.count, hidden, WeightReader::Bias::kNone);
  }
  if (config.shared_size > 0) {
    const std::string shared = prefix + std::string(config_.names.shared_expert) + ".";
    const auto none = WeightReader::Bias::kNone;
    ExpertMlp::Shared& own = mlp.shared.emplace();
    if (config.shared_gate) own.gate = weights.linear(prefix + "shared_expert_gate", 1, hidden, none);
    own.mlp = {
        weights.packable_linear({{shared + "gate_proj", config.shared_size}, {shared + "up_proj", config.shared_size}}, hidden, none),
        weights.packable_linear({{shared + "down_proj", hidden}}, config.shared_size, none), config_.activation};
  }
  return read_expert_matrices(weights, prefix, std::move(mlp), config);
}

ExpertMlp TransformerDecoder::read_expert_matrices(WeightReader& weights, const std::string& prefix, ExpertMlp mlp,
                                                   const ExpertConfig& config) const {
  const std::int64_t hidden = config_.hidden_size;
  const std::int64_t inner = config.intermediate_size;
  const std::string experts = prefix + "experts.";
  if (weights.has(experts + "gate_up_proj")) {
    std::vector<Linear> first = weights.packable_experts(experts + "gate_up_proj", config.count, 2 * inner, hidden);
    std::vector<Linear> last = weights.packable_experts(experts + "down_proj", config.count, hidden, inner);
    return with_experts(std::move(mlp), std::move(first), std::move(last));
  }
  if (weights.has(experts + "gate_up_proj.weight")) {  // as GGUF has Gemma 4's
    std::vector<Linear> first = weights.packable_experts({{experts + "gate_up_proj", 2 * inner}}, config.count, hidden);
    std::vector<Linear> last = weights.packable_experts({{experts + "down_proj", hidden}}, config.count, inner);
    return with_experts(std::move(mlp), std::move(first), std::move(last));
  }
  const bool numbered = weights.has(experts + "0.w1.weight");  // Mixtral's names
  const std::string gate = numbered ? "w1" : "gate_proj";
  const std::string up = numbered ? "w3" : "up_proj";
  const std::string down = numbered ? "w2" : "down_proj";
  if (weights.has(experts + gate + ".weight")) {  // all of them together, as GGUF has them
    std::vector<Linear> first = weights.packable_experts({{experts + gate, inner}, {experts + up, inner}}, config.count, hidden);
    std::vector<Linear> last = weights.packable_experts({{experts + down, hidden}}, config.count, inner);
    return with_experts(std::move(mlp), std::move(first), std::move(last));
  }
  for (std::int64_t expert = 0; expert < config.count; ++expert) {
    const std::string own = experts + std::to_string(expert) + ".";
    const auto none = WeightReader::Bias::kNone;
    mlp.experts.push_back({weights.packable_linear({{own + gate, inner}, {own + up, inner}}, hidden, none),
                           weights.packable_linear({{own + down, hidden}}, inner, none), config_.activation});
  }
  return mlp;
}

ExpertsBeside TransformerDecoder::read_experts_beside(WeightReader& weights, const std::string& prefix) const {
  const ExpertConfig& config = *config_.experts_beside;
  const std::int64_t hidden = config_.hidden_size;
  const auto norm = [&](const char* name) { return weights.wide_rms_norm(prefix + name, hidden, config_.norm_eps); };
  ExpertsBeside beside;
  beside.router_norm = {weights.tensor(prefix + "router.scale", {hidden}).to(at::kFloat) / std::sqrt(static_cast<double>(hidden)),
                        config_.norm_eps};
  beside.input_norm = norm("pre_feedforward_layernorm_2");
  ExpertMlp mlp;
  mlp.router = weights.linear(prefix + "router.proj", config.count, hidden, WeightReader::Bias::kNone);
  mlp.chosen = config.chosen;
  mlp.scales = weights.tensor(prefix + "router.per_expert_scale", {config.count}).to(at::kFloat);
  beside.experts = read_expert_matrices(weights, prefix, std::move(mlp), config);
  beside.output_norm = norm("post_feedforward_layernorm_2");
  beside.mlp_out_norm = norm("post_feedforward_layernorm_1");
  return beside;
}

}  // namespace winnow
