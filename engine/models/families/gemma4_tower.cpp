#include "engine/models/families/gemma4_tower.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/base/error.h"
#include "engine/layers/activation.h"
#include "engine/layers/attention.h"
#include "engine/models/vision/judged_attention.h"
#include "engine/models/vision/picture_blocks.h"

namespace winnow {
namespace {

RmsNorm without_weights(std::int64_t features, double epsilon, const WeightReader& weights) {
  return {at::ones({features}, at::TensorOptions(weights.device()).dtype(weights.dtype())), epsilon};
}

// Rows of heads whose quarters 0 and 1 rotate together, and 2 and 3: behind each other, so that they lie as halves of a head (rotary.h).
std::vector<std::int64_t> quarters_as_halves(std::int64_t heads, std::int64_t head_dim) {
  std::vector<std::int64_t> rows;
  const std::int64_t quarter = head_dim / 4;
  for (std::int64_t head = 0; head < heads; ++head) {
    for (const std::int64_t from : {0, 2, 1, 3}) {
      for (std::int64_t i = 0; i < quarter; ++i) rows.push_back(head * head_dim + from * quarter + i);
    }
  }
  return rows;
}

constexpr double kTorchEpsilon = 1e-5;  // which the class does not change

}  // namespace

at::Tensor Gemma4Tower::Product::operator()(const at::Tensor& rows) const {
  at::Tensor product = linear(input ? at::clamp(rows, input->least, input->most) : rows);
  return output ? product.clamp_(output->least, output->most) : product;
}

Gemma4Tower::Gemma4Tower(const Gemma4Vision& config, std::int64_t text_hidden, WeightReader& weights)
    : config_(config), dtype_(weights.dtype()), device_(weights.device()) {
  const auto none = WeightReader::Bias::kNone;
  const std::int64_t hidden = config.hidden_size;
  const std::int64_t side = config.patch_px;
  if (weights.has("tower.patch_embedder.input_conv.weight")) {  // a colour's pixels lie together, as GGUF has it
    const at::Tensor conv = weights.tensor("tower.patch_embedder.input_conv.weight", {hidden, 3, side, side});
    patch_embedding_.weight = LinearWeight(conv.permute({0, 2, 3, 1}).reshape({hidden, -1}).contiguous());
  } else {
    patch_embedding_ = weights.linear("tower.patch_embedder.input_proj", hidden, 3 * side * side, none);
  }
  positions_ = weights.tensor("tower.patch_embedder.position_embedding_table", {2, config.positions, hidden});
  for (std::int64_t layer = 0; layer < config.layers; ++layer)
    layers_.push_back(read_layer(weights, "tower.encoder.layers." + std::to_string(layer) + "."));
  if (config.standardised) {
    bias_ = weights.tensor("tower.std_bias", {hidden}).to(at::kFloat);
    scale_ = weights.tensor("tower.std_scale", {hidden}).to(at::kFloat);
  }
  token_norm_ = without_weights(hidden, config.norm_eps, weights);
  projection_ = weights.tower_linear("embed.embedding_projection", text_hidden, hidden, none);
}

Gemma4Tower::Product Gemma4Tower::read_product(WeightReader& weights, const std::string& prefix, std::array<std::int64_t, 2> out_in,
                                               std::vector<std::int64_t> row_of) const {
  Product product;
  product.linear = weights.tower_linear({{prefix + ".linear", out_in[0], std::move(row_of)}}, out_in[1], WeightReader::Bias::kNone);
  if (!config_.clipped) return product;
  const auto bounds = [&](const std::string& of) {
    return Bounds{weights.bound(prefix + of + "_min"), weights.bound(prefix + of + "_max")};
  };
  product.input = bounds(".input");
  product.output = bounds(".output");
  return product;
}

Gemma4Tower::Layer Gemma4Tower::read_layer(WeightReader& weights, const std::string& prefix) const {
  const std::int64_t hidden = config_.hidden_size;
  const std::int64_t inner = config_.intermediate_size;
  const std::int64_t all_heads = config_.heads * config_.head_dim;
  const std::vector<std::int64_t> order = quarters_as_halves(config_.heads, config_.head_dim);
  const at::Tensor of_head = at::tensor(quarters_as_halves(1, config_.head_dim), at::TensorOptions(device_).dtype(at::kLong));
  const auto norm = [&](const char* name) { return weights.wide_rms_norm(prefix + name, hidden, config_.norm_eps); };
  const auto head_norm = [&](const char* name) {
    RmsNorm read = weights.wide_rms_norm(prefix + name, config_.head_dim, config_.norm_eps);
    read.weight = read.weight.index_select(0, of_head);
    return read;
  };
  Layer layer;
  layer.attention_norm = norm("input_layernorm");
  layer.qkv = {read_product(weights, prefix + "self_attn.q_proj", {all_heads, hidden}, order),
               read_product(weights, prefix + "self_attn.k_proj", {all_heads, hidden}, order),
               read_product(weights, prefix + "self_attn.v_proj", {all_heads, hidden})};
  layer.query_norm = head_norm("self_attn.q_norm");
  layer.key_norm = head_norm("self_attn.k_norm");
  layer.value_norm = without_weights(config_.head_dim, config_.norm_eps, weights);
  layer.output = read_product(weights, prefix + "self_attn.o_proj", {hidden, all_heads});
  layer.attention_out_norm = norm("post_attention_layernorm");
  layer.mlp_norm = norm("pre_feedforward_layernorm");
  layer.gate = read_product(weights, prefix + "mlp.gate_proj", {inner, hidden});
  layer.up = read_product(weights, prefix + "mlp.up_proj", {inner, hidden});
  layer.down = read_product(weights, prefix + "mlp.down_proj", {hidden, inner});
  layer.mlp_out_norm = norm("post_feedforward_layernorm");
  return layer;
}

Gemma4Tower::Layout Gemma4Tower::layout_of(const TokenGrid& grid) const {
  const std::int64_t rows = grid.rows * config_.pooled;
  const std::int64_t columns = grid.columns * config_.pooled;
  const auto numbers = at::TensorOptions(device_).dtype(at::kLong);
  const at::Tensor column = at::arange(columns, numbers).repeat({rows});
  const at::Tensor row = at::arange(rows, numbers).repeat_interleave(columns);
  // Both with the frequencies of half a head.
  const std::int64_t half = config_.head_dim / 2;
  const at::Tensor exponent = at::arange(0, half, 2, at::TensorOptions().dtype(at::kFloat)).div(half);
  const at::Tensor frequency = at::pow(at::Scalar(config_.theta), exponent).reciprocal().to(device_);
  const at::Tensor places = at::stack({column, row}, 1).to(at::kFloat);
  const at::Tensor rotations = (places.unsqueeze(2) * frequency).view({-1, 1, half});
  return {grid,
          positions_[0].index_select(0, column) + positions_[1].index_select(0, row),
          {rotations.cos().to(dtype_), rotations.sin().to(dtype_)}};
}

at::Tensor Gemma4Tower::pooled(const at::Tensor& of_patches, const TokenGrid& grid) const {
  const std::int64_t side = config_.pooled;
  return of_patches.view({of_patches.size(0), grid.rows, side, grid.columns, side, of_patches.size(2)})
      .mean(at::IntArrayRef{2, 4})
      .flatten(1, 2);
}

SoftTokens Gemma4Tower::encode(const at::Tensor& patches, const TokenGrid& grid, std::optional<VisionJudge> judge,
                               const InterruptToken& interrupt) const {
  const std::int64_t each = grid.rows * grid.columns * config_.pooled * config_.pooled;
  require(patches.dim() == 2 && patches.size(0) > 0 && patches.size(0) % each == 0, "the patches are not those of pictures of this size");
  const Layout layout = layout_of(grid);
  return encoded_in_blocks(patches.unflatten(0, {patches.size(0) / each, each}), std::max<std::int64_t>(1, kPatchesPerBlock / each),
                           [&](const at::Tensor& block) { return encode_block(block, layout, judge, interrupt); });
}

SoftTokens Gemma4Tower::encode_block(const at::Tensor& patches, const Layout& layout, std::optional<VisionJudge> judge,
                                     const InterruptToken& interrupt) const {
  const at::Tensor scaled = (patches.to(device_) - 0.5).mul_(2.0).to(dtype_);
  at::Tensor hidden = patch_embedding_(scaled) + layout.positions;
  std::optional<QueryKey> before_last, last;
  for (const Layer& layer : layers_) {
    QueryKey rotated = run_layer(layer, layout, hidden, interrupt);
    if (judge) before_last = std::exchange(last, std::move(rotated));
  }
  at::Tensor tokens = pooled(hidden.to(at::kFloat), layout.grid).to(dtype_).to(at::kFloat);
  tokens = tokens * std::sqrt(static_cast<double>(config_.hidden_size));
  if (config_.standardised) tokens = (tokens - bias_) * scale_;
  SoftTokens found{.features = projection_(token_norm_(tokens.to(dtype_)))};
  if (!judge) return found;
  const std::int64_t count = hidden.size(1);
  const at::Tensor equal = at::full({hidden.size(0), count}, 1.0 / static_cast<double>(count), hidden.options().dtype(at::kFloat));
  const auto through = [&](const at::Tensor& weights, const QueryKey& rotated) {
    std::vector<at::Tensor> of_pictures;
    // through_attention() divides by the root of the head size.
    const at::Tensor query = rotated.query * std::sqrt(static_cast<double>(config_.head_dim));
    for (std::int64_t picture = 0; picture < hidden.size(0); ++picture)
      of_pictures.push_back(through_attention(weights[picture], query[picture], rotated.key[picture]));
    return at::stack(of_pictures);
  };
  found.importance = pooled(judged_weights(*judge, equal, last, before_last, through).unsqueeze(2), layout.grid).squeeze(2);
  return found;
}

Gemma4Tower::QueryKey Gemma4Tower::run_layer(const Layer& layer, const Layout& layout, at::Tensor& hidden,
                                             const InterruptToken& interrupt) const {
  const std::int64_t pictures = hidden.size(0);
  const std::int64_t patches = hidden.size(1);
  const std::int64_t heads = config_.heads;
  const std::int64_t head_dim = config_.head_dim;
  interrupt.throw_if_requested();
  const at::Tensor input = layer.attention_norm(hidden);
  const auto heads_of = [&](std::size_t which, const RmsNorm& norm) {
    at::Tensor of = layer.qkv[which](input).view({pictures * patches, heads, head_dim});
    norm.in_place(of);
    return of;
  };
  const auto rotated = [&](const at::Tensor& of) {  // [pictures, heads, patches, d]
    at::Tensor out = at::empty({pictures, patches, heads, head_dim}, of.options());
    for (std::int64_t picture = 0; picture < pictures; ++picture) {
      at::Tensor own = out[picture];
      apply_rotary(of.narrow(0, picture * patches, patches), layout.angles, own);
    }
    return out.transpose(1, 2);
  };
  const QueryKey asked{rotated(heads_of(0, layer.query_norm)), rotated(heads_of(1, layer.key_norm))};
  const at::Tensor value = heads_of(2, layer.value_norm).view({pictures, patches, heads, head_dim}).transpose(1, 2);
  at::Tensor seen = at::empty({pictures, patches, heads * head_dim}, hidden.options());
  for (std::int64_t first = 0; first < patches; first += kTileRows) {
    interrupt.throw_if_requested();
    const std::int64_t rows = std::min(kTileRows, patches - first);
    const at::Tensor output = attention_with_lse(asked.query.narrow(2, first, rows), asked.key, value, Mask::kNone, 1.0).output;
    seen.narrow(1, first, rows).copy_(output.transpose(1, 2).reshape({pictures, rows, heads * head_dim}));
  }
  hidden.add_(layer.attention_out_norm(layer.output(seen)));

  at::Tensor rows = hidden.view({pictures * patches, config_.hidden_size});
  for (std::int64_t first = 0; first < rows.size(0); first += kPatchesPerBlock) {
    interrupt.throw_if_requested();
    at::Tensor tile = rows.narrow(0, first, std::min(kPatchesPerBlock, rows.size(0) - first));
    const at::Tensor normalised = layer.mlp_norm(tile);
    at::Tensor gated = layer.gate(normalised);
    activate(config_.activation, gated).mul_(layer.up(normalised));
    tile.add_(layer.mlp_out_norm(layer.down(gated)));
  }
  return asked;
}

Gemma4PatchEmbedder::Gemma4PatchEmbedder(const Gemma4Patches& config, std::int64_t text_hidden, WeightReader& weights)
    : dtype_(weights.dtype()), device_(weights.device()) {
  const std::int64_t side = config.patch_px * config.pooled;
  const std::int64_t pixels = 3 * side * side;
  const std::int64_t hidden = config.hidden_size;
  const auto colours_innermost = [&](const at::Tensor& columns) {  // from colours outermost, [..., 3, side, side]
    return columns.view({-1, 3, side, side}).permute({0, 2, 3, 1}).reshape(columns.sizes()).contiguous();
  };
  if (weights.has("tower.planes.patch_dense.weight")) {  // as GGUF has it
    pixel_norm_ = weights.layer_norm("tower.planes.patch_ln1", pixels, kTorchEpsilon);
    pixel_norm_.weight = colours_innermost(pixel_norm_.weight);
    pixel_norm_.bias = colours_innermost(pixel_norm_.bias);
    dense_.weight = LinearWeight(colours_innermost(weights.tensor("tower.planes.patch_dense.weight", {hidden, pixels})));
    dense_.bias = weights.tensor("tower.planes.patch_dense.bias", {hidden});
    positions_ = weights.tensor("tower.planes.pos_embedding", {2, config.positions, hidden}).transpose(0, 1).contiguous();
  } else {
    pixel_norm_ = weights.layer_norm("tower.patch_ln1", pixels, kTorchEpsilon);
    dense_ = weights.tower_linear("tower.patch_dense", hidden, pixels, WeightReader::Bias::kRequired);
    positions_ = weights.tensor("tower.pos_embedding", {config.positions, 2, hidden});
  }
  patch_norm_ = weights.layer_norm("tower.patch_ln2", hidden, kTorchEpsilon);
  position_norm_ = weights.layer_norm("tower.pos_norm", hidden, kTorchEpsilon);
  token_norm_ = {at::ones({hidden}, at::TensorOptions(device_).dtype(dtype_)), config.norm_eps};
  projection_ = weights.tower_linear("embed.embedding_projection", text_hidden, hidden, WeightReader::Bias::kNone);
}

at::Tensor Gemma4PatchEmbedder::encode(const at::Tensor& patches, const TokenGrid& grid, const InterruptToken& interrupt) const {
  const std::int64_t each = grid.rows * grid.columns;
  require(patches.dim() == 2 && patches.size(0) > 0 && patches.size(0) % each == 0, "the patches are not those of pictures of this size");
  const std::int64_t pictures = patches.size(0) / each;
  const auto numbers = at::TensorOptions(device_).dtype(at::kLong);
  const at::Tensor column = at::arange(grid.columns, numbers).repeat({grid.rows});
  const at::Tensor row = at::arange(grid.rows, numbers).repeat_interleave(grid.columns);
  const at::Tensor places =
      (positions_.select(1, 0).index_select(0, column) + positions_.select(1, 1).index_select(0, row)).repeat({pictures, 1});
  std::vector<at::Tensor> features;
  for (std::int64_t first = 0; first < patches.size(0); first += kTileRows) {
    interrupt.throw_if_requested();
    const std::int64_t rows = std::min(kTileRows, patches.size(0) - first);
    const at::Tensor pixels = patches.narrow(0, first, rows).to(device_).to(dtype_);
    const at::Tensor embedded = patch_norm_(dense_(pixel_norm_(pixels))) + places.narrow(0, first, rows);
    features.push_back(projection_(token_norm_(position_norm_(embedded))));
  }
  return at::cat(features, 0).view({pictures, each, -1});
}

}  // namespace winnow
