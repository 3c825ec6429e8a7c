#include "engine/models/vit_tower.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "engine/base/error.h"
#include "engine/layers/attention.h"
#include "engine/models/judged_attention.h"

namespace winnow {

VitTower::VitTower(const VitConfig& config, std::vector<std::int64_t> feature_states, WeightReader& weights, const std::string& prefix)
    : config_(config), feature_states_(std::move(feature_states)) {
  require(!feature_states_.empty(), "a vision tower must deliver at least one state");
  const std::int64_t last = *std::max_element(feature_states_.begin(), feature_states_.end());
  require(last <= config.layers, "the vision tower has fewer layers than its features need");
  const std::int64_t hidden = config.hidden_size;
  const std::int64_t patch = config.patch_size_px;
  const std::int64_t tokens = config.patches() + (config.class_token ? 1 : 0);

  const std::string embeddings = prefix + "embeddings.";
  patch_embedding_.weight =
      weights.tensor(embeddings + "patch_embedding.weight", {hidden, config.channels, patch, patch}).reshape({hidden, -1});
  if (config.class_token) {
    class_embedding_ = weights.tensor(embeddings + "class_embedding", {hidden});
    first_norm_ = weights.layer_norm(prefix + "pre_layrnorm", hidden, config.layer_norm_eps);  // the name in CLIP's files
  } else {
    patch_embedding_.bias = weights.tensor(embeddings + "patch_embedding.bias", {hidden});
  }
  const std::int64_t rows = config.position_rows > 0 ? config.position_rows : tokens;
  position_embedding_ = weights.tensor(embeddings + "position_embedding.weight", {rows, hidden});
  if (!config.row_of_patch.empty())
    position_embedding_ = position_embedding_.index_select(0, at::tensor(config.row_of_patch, at::kLong).to(position_embedding_.device()));
  for (std::int64_t layer = 0; layer < last; ++layer) {
    layers_.push_back(read_layer(weights, prefix + "encoder.layers." + std::to_string(layer) + "."));
  }
}

VitTower::Layer VitTower::read_layer(WeightReader& weights, const std::string& prefix) const {
  const std::int64_t hidden = config_.hidden_size;
  const auto bias = WeightReader::Bias::kRequired;
  const std::string attention = prefix + "self_attn.";
  Layer layer;
  layer.attention_norm = weights.layer_norm(prefix + "layer_norm1", hidden, config_.layer_norm_eps);
  layer.qkv =
      weights.linear({{attention + "q_proj", hidden}, {attention + "k_proj", hidden}, {attention + "v_proj", hidden}}, hidden, bias);
  layer.output = weights.linear(attention + "out_proj", hidden, hidden, bias);
  layer.mlp_norm = weights.layer_norm(prefix + "layer_norm2", hidden, config_.layer_norm_eps);
  layer.mlp.first = weights.linear(prefix + "mlp.fc1", config_.intermediate_size, hidden, bias);
  layer.mlp.second = weights.linear(prefix + "mlp.fc2", hidden, config_.intermediate_size, bias);
  layer.mlp.activation = config_.activation;
  return layer;
}

TowerFeatures VitTower::encode(const at::Tensor& pixels, std::optional<VisionJudge> judge, const InterruptToken& interrupt) const {
  require(pixels.dim() == 4 && pixels.size(0) > 0 && pixels.size(1) == config_.channels && pixels.size(2) == config_.image_size_px &&
              pixels.size(3) == config_.image_size_px,
          "the pixels do not have the vision tower's size");
  std::vector<at::Tensor> features, importance;
  for (std::int64_t first = 0; first < pixels.size(0); first += kFramesPerBlock) {
    TowerFeatures block = encode_block(pixels.narrow(0, first, std::min(kFramesPerBlock, pixels.size(0) - first)), judge, interrupt);
    features.push_back(std::move(block.features));
    if (judge) importance.push_back(std::move(block.importance));
  }
  return {features.size() == 1 ? features.front() : at::cat(features, 0), judge ? at::cat(importance, 0) : at::Tensor()};
}

TowerFeatures VitTower::encode_block(const at::Tensor& pixels, std::optional<VisionJudge> judge, const InterruptToken& interrupt) const {
  at::Tensor hidden = embed(pixels);
  // A state is kept only if it is a feature; layers work in place.
  std::vector<at::Tensor> features(feature_states_.size());
  const auto keep = [&](std::int64_t state) {
    for (std::size_t i = 0; i < features.size(); ++i) {
      if (feature_states_[i] == state) features[i] = hidden.clone();
    }
  };
  keep(0);
  at::Tensor before_last, last;
  for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
    interrupt.throw_if_requested();
    at::Tensor qkv = run_layer(layers_[layer], hidden);
    if (judge) before_last = std::exchange(last, std::move(qkv));
    keep(static_cast<std::int64_t>(layer) + 1);
  }
  TowerFeatures found{features.size() == 1 ? features.front() : at::cat(features, -1), {}};
  if (!judge) return found;
  at::Tensor weights = judging_rows(hidden);
  for (const at::Tensor& qkv : {last, before_last}) {
    if (!qkv.defined()) break;
    const at::Tensor through = through_layer(weights, qkv);
    weights = *judge == VisionJudge::kRollout ? (through + weights) * 0.5 : through;
    if (*judge == VisionJudge::kAttention) break;
  }
  found.importance = weights;
  return found;
}

at::Tensor VitTower::embed(const at::Tensor& pixels) const {
  const std::int64_t frames = pixels.size(0);
  const std::int64_t side = config_.patches_per_side;
  const std::int64_t patch = config_.patch_size_px;
  // Pixels beyond the last whole patch are left out, as the convolution without padding does.
  const at::Tensor patches = pixels.narrow(2, 0, side * patch)
                                 .narrow(3, 0, side * patch)
                                 .to(position_embedding_.options())
                                 .reshape({frames, config_.channels, side, patch, side, patch})
                                 .permute({0, 2, 4, 1, 3, 5})
                                 .reshape({frames, side * side, config_.channels * patch * patch});
  at::Tensor embedded = patch_embedding_(patches);
  if (!config_.class_token) return embedded.add_(position_embedding_);
  embedded = at::cat({class_embedding_.expand({frames, 1, config_.hidden_size}), embedded}, 1).add_(position_embedding_);
  return first_norm_(embedded);
}

at::Tensor VitTower::judging_rows(const at::Tensor& hidden) const {
  const auto options = hidden.options().dtype(at::kFloat);
  const std::int64_t tokens = hidden.size(1);
  if (!config_.class_token) return at::full({hidden.size(0), tokens}, 1.0 / static_cast<double>(tokens), options);
  at::Tensor rows = at::zeros({hidden.size(0), tokens}, options);
  rows.select(1, 0).fill_(1.0);
  return rows;
}

at::Tensor VitTower::through_layer(const at::Tensor& weights, const at::Tensor& qkv) const {
  at::Tensor through = at::empty_like(weights);
  for (std::int64_t frame = 0; frame < qkv.size(0); ++frame) {
    const auto part = [&](std::int64_t index) { return qkv.select(0, frame).select(1, index).transpose(0, 1); };  // [heads, tokens, d]
    through.select(0, frame).copy_(through_attention(weights.select(0, frame), part(0), part(1)));
  }
  return through;
}

at::Tensor VitTower::run_layer(const Layer& layer, at::Tensor& hidden) const {
  const std::int64_t frames = hidden.size(0);
  const std::int64_t tokens = hidden.size(1);
  const at::Tensor qkv = layer.qkv(layer.attention_norm(hidden)).view({frames, tokens, 3, config_.heads, config_.head_dim});
  const auto part = [&](std::int64_t index) { return qkv.select(2, index).transpose(1, 2); };  // [frames, heads, tokens, d]
  const double scale = 1.0 / std::sqrt(static_cast<double>(config_.head_dim));
  const AttentionResult attention = attention_with_lse(part(0), part(1), part(2), Mask::kNone, scale);
  hidden.add_(layer.output(attention.output.transpose(1, 2).reshape({frames, tokens, config_.hidden_size})));
  hidden.add_(layer.mlp(layer.mlp_norm(hidden)));
  return qkv;
}

}  // namespace winnow
