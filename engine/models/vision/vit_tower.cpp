#include "engine/models/vision/vit_tower.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/base/error.h"
#include "engine/device/host_numbers.h"
#include "engine/layers/attention.h"
#include "engine/models/vision/judged_attention.h"
#include "engine/models/vision/picture_blocks.h"

namespace winnow {

VitTower::VitTower(const VitConfig& config, std::vector<std::int64_t> feature_states, WeightReader& weights, const std::string& prefix)
    : config_(config), feature_states_(std::move(feature_states)) {
  require(!feature_states_.empty(), "a vision tower must deliver at least one state");
  const std::int64_t last = *std::max_element(feature_states_.begin(), feature_states_.end());
  require(last <= config.layers, "the vision tower has fewer layers than its features need");
  read_embeddings(weights, prefix);
  for (std::int64_t layer = 0; layer < last; ++layer) {
    layers_.push_back(read_layer(weights, prefix + std::string(config.names.layers) + std::to_string(layer) + "."));
  }
}

void VitTower::read_embeddings(WeightReader& weights, const std::string& prefix) {
  const std::int64_t hidden = config_.hidden_size;
  const std::int64_t patch = config_.patch_size_px;
  const std::string patches = prefix + std::string(config_.names.patch_embedding);
  const std::string kernel = patches + ".weight";
  if (!config_.patch_kernel) {
    const at::Tensor stored = weights.tensor(kernel, {hidden, patch * patch * config_.channels});
    patch_embedding_.weight = stored.view({hidden, patch, patch, config_.channels}).permute({0, 3, 1, 2}).reshape({hidden, -1});
  } else {
    patch_embedding_.weight = weights.tensor(kernel, {hidden, config_.channels, patch, patch}).reshape({hidden, -1});
  }
  if (config_.patch_bias) patch_embedding_.bias = weights.tensor(patches + ".bias", {hidden});
  if (config_.class_token) {
    const std::string name = prefix + std::string(config_.names.class_token);
    class_embedding_ = config_.batched_tables ? weights.tensor(name, {1, 1, hidden}).reshape({hidden}) : weights.tensor(name, {hidden});
  }
  if (config_.first_norm) first_norm_ = weights.layer_norm(prefix + std::string(config_.names.first_norm), hidden, config_.layer_norm_eps);
  position_embedding_ = read_positions(weights, prefix + std::string(config_.names.positions));
}

at::Tensor VitTower::read_positions(WeightReader& weights, const std::string& name) const {
  const std::int64_t hidden = config_.hidden_size;
  const std::int64_t beside = config_.class_token ? 1 : 0;
  const std::int64_t side = config_.position_side;
  const std::int64_t rows = config_.position_rows > 0 ? config_.position_rows : beside + (side > 0 ? side * side : config_.patches());
  at::Tensor table =
      config_.batched_tables ? weights.tensor(name, {1, rows, hidden}).reshape({rows, hidden}) : weights.tensor(name, {rows, hidden});
  if (!config_.row_of_patch.empty()) return table.index_select(0, numbers_on(table.device(), config_.row_of_patch));
  if (side == 0 || side == config_.patches_per_side || config_.native_sizes) return table;
  const at::Tensor map = table.narrow(0, beside, side * side).to(at::kFloat).view({1, side, side, hidden}).permute({0, 3, 1, 2});
  const at::Tensor resized =
      at::upsample_bicubic2d(map.contiguous(), {config_.patches_per_side, config_.patches_per_side}, /*align_corners=*/false);
  return at::cat({table.narrow(0, 0, beside), resized.permute({0, 2, 3, 1}).reshape({-1, hidden}).to(table.scalar_type())}, 0);
}

Linear VitTower::read_query_key_value(WeightReader& weights, const std::string& prefix) const {
  const VitNames& names = config_.names;
  const std::int64_t hidden = config_.hidden_size;
  const auto bias = config_.attention_bias ? WeightReader::Bias::kRequired : WeightReader::Bias::kNone;
  if (!names.query_key_value.empty()) return weights.tower_linear(prefix + std::string(names.query_key_value), 3 * hidden, hidden, bias);
  return weights.tower_linear(
      {{prefix + std::string(names.query), hidden}, {prefix + std::string(names.key), hidden}, {prefix + std::string(names.value), hidden}},
      hidden, bias);
}

VitTower::Layer VitTower::read_layer(WeightReader& weights, const std::string& prefix) const {
  const VitNames& names = config_.names;
  const std::int64_t hidden = config_.hidden_size;
  const double epsilon = config_.layer_norm_eps;
  const auto bias = WeightReader::Bias::kRequired;
  const auto norm = [&](std::string_view name) -> Norm {
    if (config_.rms_norms) return {weights.rms_norm(prefix + std::string(name), hidden, epsilon)};
    return {weights.layer_norm(prefix + std::string(name), hidden, epsilon)};
  };
  Layer layer{.attention_norm = norm(names.attention_norm), .qkv = read_query_key_value(weights, prefix)};
  if (!names.query_norm.empty()) {
    layer.query_norm = weights.rms_norm(prefix + std::string(names.query_norm), hidden, config_.query_key_norm_eps);
    layer.key_norm = weights.rms_norm(prefix + std::string(names.key_norm), hidden, config_.query_key_norm_eps);
  }
  layer.output = weights.tower_linear(prefix + std::string(names.output), hidden, hidden, bias);
  if (!names.attention_scale.empty()) {
    layer.attention_scale = weights.tensor(prefix + std::string(names.attention_scale), {hidden});
    layer.mlp_scale = weights.tensor(prefix + std::string(names.mlp_scale), {hidden});
  }
  layer.mlp_norm = norm(names.mlp_norm);
  layer.mlp.first = weights.tower_linear(prefix + std::string(names.first), config_.intermediate_size, hidden, bias);
  layer.mlp.second = weights.tower_linear(prefix + std::string(names.second), hidden, config_.intermediate_size, bias);
  layer.mlp.activation = config_.activation;
  return layer;
}

TowerFeatures VitTower::encode(const at::Tensor& pixels, std::optional<VisionJudge> judge, const InterruptToken& interrupt) const {
  require(pixels.dim() == 4 && pixels.size(0) > 0 && pixels.size(1) == config_.channels && pixels.size(2) == config_.image_size_px &&
              pixels.size(3) == config_.image_size_px,
          "the pixels do not have the vision tower's size");
  return encoded_in_blocks(pixels, kFramesPerBlock, [&](const at::Tensor& block) { return encode_block(embed(block), judge, interrupt); });
}

TowerFeatures VitTower::encode_patches(const at::Tensor& patches, const PatchRows& grid, std::optional<VisionJudge> judge,
                                       const InterruptToken& interrupt) const {
  const std::int64_t values = config_.channels * config_.patch_size_px * config_.patch_size_px;
  require(
      config_.native_sizes && patches.dim() == 3 && patches.size(0) > 0 && patches.size(1) == grid.patches() && patches.size(2) == values,
      "the patches are not those of such pictures");
  const at::Tensor positions = positions_of(grid);
  return encoded_in_blocks(patches, std::max<std::int64_t>(1, kPatchesPerBlock / grid.patches()), [&](const at::Tensor& block) {
    return encode_block(patch_embedding_(block.to(position_embedding_.options())).add_(positions), judge, interrupt);
  });
}

at::Tensor VitTower::positions_of(const PatchRows& grid) const {
  const std::int64_t side = config_.position_side;
  const at::Tensor map = position_embedding_.to(at::kFloat).view({1, side, side, config_.hidden_size}).permute({0, 3, 1, 2});
  const at::Tensor resized = at::_upsample_bilinear2d_aa(map.contiguous(), {grid.rows, grid.columns}, /*align_corners=*/false);
  return resized.permute({0, 2, 3, 1}).reshape({grid.patches(), config_.hidden_size}).to(position_embedding_.scalar_type());
}

TowerFeatures VitTower::encode_block(at::Tensor hidden, std::optional<VisionJudge> judge, const InterruptToken& interrupt) const {
  // A state is kept only if it is a feature; layers work in place.
  std::vector<at::Tensor> features(feature_states_.size());
  const auto keep = [&](std::int64_t state) {
    for (std::size_t i = 0; i < features.size(); ++i) {
      if (feature_states_[i] == state) features[i] = hidden.clone();
    }
  };
  keep(0);
  std::optional<at::Tensor> before_last, last;
  for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
    interrupt.throw_if_requested();
    at::Tensor qkv = run_layer(layers_[layer], hidden);
    if (judge) before_last = std::exchange(last, std::move(qkv));
    keep(static_cast<std::int64_t>(layer) + 1);
  }
  TowerFeatures found{features.size() == 1 ? features.front() : at::cat(features, -1), {}};
  if (!judge) return found;
  found.importance = judged_weights(*judge, judging_rows(hidden), last, before_last,
                                    [this](const at::Tensor& weights, const at::Tensor& qkv) { return through_layer(weights, qkv); });
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
  if (config_.class_token) embedded = at::cat({class_embedding_.expand({frames, 1, config_.hidden_size}), embedded}, 1);
  embedded.add_(position_embedding_);
  return config_.first_norm ? first_norm_(embedded) : embedded;
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

void VitTower::normalise_heads(const Layer& layer, at::Tensor& qkv) const {
  if (config_.names.query_norm.empty()) return;
  at::Tensor query = qkv.select(2, 0).flatten(2);  // views: the heads of a token lie side by side
  at::Tensor key = qkv.select(2, 1).flatten(2);
  layer.query_norm.in_place(query);
  layer.key_norm.in_place(key);
}

at::Tensor VitTower::run_layer(const Layer& layer, at::Tensor& hidden) const {
  const std::int64_t frames = hidden.size(0);
  const std::int64_t tokens = hidden.size(1);
  const auto add = [&](at::Tensor added, const at::Tensor& scale) { hidden.add_(scale.defined() ? added.mul_(scale) : added); };
  at::Tensor qkv = layer.qkv(layer.attention_norm(hidden)).view({frames, tokens, 3, config_.heads, config_.head_dim});
  normalise_heads(layer, qkv);
  const auto part = [&](std::int64_t index) { return qkv.select(2, index).transpose(1, 2); };  // [frames, heads, tokens, d]
  const double scale = 1.0 / std::sqrt(static_cast<double>(config_.head_dim));
  const AttentionResult attention = attention_with_lse(part(0), part(1), part(2), Mask::kNone, scale);
  add(layer.output(attention.output.transpose(1, 2).reshape({frames, tokens, config_.hidden_size})), layer.attention_scale);
  add(layer.mlp(layer.mlp_norm(hidden)), layer.mlp_scale);
  return qkv;
}

}  // namespace winnow
