#include "engine/models/qwen2_vl/qwen2_vl_tower.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/base/error.h"
#include "engine/layers/attention.h"
#include "engine/models/judged_attention.h"

namespace winnow {
namespace {

constexpr double kNormEpsilon = 1e-6;
constexpr double kTheta = 10'000.0;

at::Tensor run(const auto& one_of, const at::Tensor& input) {
  return std::visit([&](const auto& layer) { return layer(input); }, one_of);
}

}  // namespace

Qwen2VlTower::Qwen2VlTower(const Qwen2VisionConfig& config, WeightReader& weights, const std::string& prefix)
    : config_(config), dtype_(weights.dtype()), device_(weights.device()) {
  patch_embedding_.weight = read_patch_kernel(weights, prefix + "patch_embed.proj").flatten(1);
  for (std::int64_t layer = 0; layer < config.layers; ++layer)
    layers_.push_back(read_layer(weights, prefix + "blocks." + std::to_string(layer) + ".", layer));
  const std::int64_t joined = config.hidden_size * config.patches.cell_patches();
  merger_norm_ = read_norm(weights, prefix + "merger.ln_q");
  merger_.first = weights.linear(prefix + "merger.mlp.0", joined, joined, WeightReader::Bias::kRequired);
  merger_.second = weights.linear(prefix + "merger.mlp.2", config.out_size, joined, WeightReader::Bias::kRequired);
  merger_.activation = Activation::kGelu;
}

// One kernel over all joined frames, or (GGUF) one for each of them.
at::Tensor Qwen2VlTower::read_patch_kernel(WeightReader& weights, const std::string& prefix) const {
  const std::int64_t patch = config_.patches.patch_px;
  const std::int64_t frames = config_.patches.joined_frames;
  if (weights.has(prefix + ".weight")) return weights.tensor(prefix + ".weight", {config_.hidden_size, 3, frames, patch, patch});
  std::vector<at::Tensor> kernels;
  for (std::int64_t frame = 0; frame < frames; ++frame)
    kernels.push_back(weights.tensor(prefix + "." + std::to_string(frame) + ".weight", {config_.hidden_size, 3, patch, patch}));
  return at::stack(kernels, 2);
}

// One matrix for queries, keys and values, or (GGUF) three.
Linear Qwen2VlTower::read_qkv(WeightReader& weights, const std::string& prefix) const {
  const auto bias = WeightReader::Bias::kRequired;
  const std::int64_t hidden = config_.hidden_size;
  if (!weights.has(prefix + "q.weight")) return weights.linear(prefix + "qkv", 3 * hidden, hidden, bias);
  return weights.linear({{prefix + "q", hidden}, {prefix + "k", hidden}, {prefix + "v", hidden}}, hidden, bias);
}

std::variant<LayerNorm, RmsNorm> Qwen2VlTower::read_norm(WeightReader& weights, const std::string& prefix) const {
  if (config_.windows) return weights.rms_norm(prefix, config_.hidden_size, kNormEpsilon);
  return weights.layer_norm(prefix, config_.hidden_size, kNormEpsilon);
}

Qwen2VlTower::Layer Qwen2VlTower::read_layer(WeightReader& weights, const std::string& prefix, std::int64_t index) const {
  const auto bias = WeightReader::Bias::kRequired;
  const std::int64_t hidden = config_.hidden_size;
  const std::int64_t inner = config_.intermediate_size;
  const std::string mlp = prefix + "mlp.";
  Layer layer;
  layer.attention_norm = read_norm(weights, prefix + "norm1");
  layer.qkv = read_qkv(weights, prefix + "attn.");
  layer.output = weights.linear(prefix + "attn.proj", hidden, hidden, bias);
  layer.mlp_norm = read_norm(weights, prefix + "norm2");
  if (config_.windows) {
    layer.windowed = std::ranges::find(config_.windows->whole_layers, index) == config_.windows->whole_layers.end();
    layer.mlp = GatedMlp{weights.linear({{mlp + "gate_proj", inner}, {mlp + "up_proj", inner}}, hidden, bias),
                         weights.linear(mlp + "down_proj", hidden, inner, bias), config_.activation};
  } else {
    layer.mlp =
        PlainMlp{weights.linear(mlp + "fc1", inner, hidden, bias), weights.linear(mlp + "fc2", hidden, inner, bias), config_.activation};
  }
  return layer;
}

Qwen2VlTower::Layout Qwen2VlTower::layout_of(const CellGrid& grid) const {
  const std::int64_t merge = config_.patches.merge;
  const std::int64_t unit = config_.patches.cell_patches();
  Layout layout;
  layout.grid = grid;
  layout.windows = window_order(grid, config_.windows ? config_.windows->side_cells : std::max(grid.rows, grid.columns));
  for (WindowGroup& group : layout.windows.groups) {
    group.first *= unit;
    group.cells *= unit;
  }
  layout.whole = {0, 1, grid.cells() * unit};
  std::vector<float> places;  // row and column of each patch, as they go through the tower
  for (const std::int64_t cell : layout.windows.cells) {
    for (std::int64_t inside = 0; inside < unit; ++inside) {
      places.push_back(static_cast<float>(cell / grid.columns * merge + inside / merge));
      places.push_back(static_cast<float>(cell % grid.columns * merge + inside % merge));
    }
  }
  // Half of a head's turns are the row's, the other half the column's; both with the frequencies of half a head.
  const std::int64_t half = config_.head_dim / 2;
  const at::Tensor exponent = at::arange(0, half, 2, at::TensorOptions().dtype(at::kFloat)).div(half);
  const at::Tensor frequency = at::pow(at::Scalar(kTheta), exponent).reciprocal();
  const at::Tensor turns = (at::tensor(places).view({-1, 2, 1}) * frequency).view({-1, 1, 1, half}).to(device_);
  layout.angles = {turns.cos(), turns.sin()};
  return layout;
}

CellFeatures Qwen2VlTower::encode(const at::Tensor& patches, const CellGrid& grid, std::optional<VisionJudge> judge,
                                  const InterruptToken& interrupt) const {
  const std::int64_t each = grid.cells() * config_.patches.cell_patches();
  require(patches.dim() == 2 && patches.size(0) > 0 && patches.size(0) % each == 0, "the patches are not those of pictures of this size");
  const Layout layout = layout_of(grid);
  const std::int64_t pictures = patches.size(0) / each;
  const std::int64_t at_a_time = std::max<std::int64_t>(1, kPatchesPerBlock / each);
  std::vector<at::Tensor> features, importance;
  for (std::int64_t first = 0; first < pictures; first += at_a_time) {
    const std::int64_t count = std::min(at_a_time, pictures - first);
    CellFeatures block = encode_block(patches.narrow(0, first * each, count * each), layout, judge, interrupt);
    features.push_back(std::move(block.features));
    if (judge) importance.push_back(std::move(block.importance));
  }
  return {at::cat(features, 0), judge ? at::cat(importance, 0) : at::Tensor()};
}

CellFeatures Qwen2VlTower::encode_block(const at::Tensor& patches, const Layout& layout, std::optional<VisionJudge> judge,
                                        const InterruptToken& interrupt) const {
  const std::int64_t unit = config_.patches.cell_patches();
  const std::int64_t cells = layout.grid.cells();
  const at::Tensor order = at::tensor(layout.windows.cells, at::TensorOptions().dtype(at::kLong)).to(device_);
  at::Tensor hidden = patch_embedding_(patches.to(at::TensorOptions(device_).dtype(dtype_)))
                          .view({-1, cells, unit * config_.hidden_size})
                          .index_select(1, order)
                          .view({-1, cells * unit, config_.hidden_size});
  Turned before_last, last;
  for (const Layer& layer : layers_) {
    Turned turned = run_layer(layer, layout, hidden, interrupt);
    if (judge) before_last = std::exchange(last, std::move(turned));
  }
  const at::Tensor back = at::argsort(order);
  CellFeatures found;
  found.features = merger_(run(merger_norm_, hidden).view({-1, cells, unit * config_.hidden_size})).index_select(1, back);
  if (!judge) return found;
  at::Tensor weights =
      at::full({hidden.size(0), hidden.size(1)}, 1.0 / static_cast<double>(hidden.size(1)), hidden.options().dtype(at::kFloat));
  for (const Turned* turned : {&last, &before_last}) {
    if (!turned->query_key.defined()) break;
    const at::Tensor through = through_layer(weights, *turned, layout);
    weights = *judge == VisionJudge::kRollout ? (through + weights) * 0.5 : through;
    if (*judge == VisionJudge::kAttention) break;
  }
  found.importance = weights.view({-1, cells, unit}).mean(2).index_select(1, back);
  return found;
}

std::vector<WindowGroup> Qwen2VlTower::groups_of(bool windowed, const Layout& layout) const {
  return windowed ? layout.windows.groups : std::vector<WindowGroup>{layout.whole};
}

Qwen2VlTower::Turned Qwen2VlTower::run_layer(const Layer& layer, const Layout& layout, at::Tensor& hidden,
                                             const InterruptToken& interrupt) const {
  const std::int64_t pictures = hidden.size(0);
  const std::int64_t patches = hidden.size(1);
  const std::int64_t heads = config_.heads;
  const std::int64_t head_dim = config_.head_dim;
  const at::Tensor qkv = layer.qkv(run(layer.attention_norm, hidden)).view({pictures, patches, 3, heads, head_dim});
  const at::Tensor flat = qkv.narrow(2, 0, 2).to(at::kFloat);
  at::Tensor turned = at::empty({pictures, patches, 2, heads, head_dim}, flat.options());
  apply_rotary(flat, layout.angles, turned);
  turned = turned.to(dtype_);

  const double scale = 1.0 / std::sqrt(static_cast<double>(head_dim));
  at::Tensor seen = at::empty({pictures, patches, config_.hidden_size}, hidden.options());
  for (const WindowGroup& group : groups_of(layer.windowed, layout)) {
    const std::int64_t count = group.windows * group.cells;
    const auto part = [&](const at::Tensor& of, std::int64_t index) {  // [windows of all pictures, heads, patches, d]
      return of.select(2, index).narrow(1, group.first, count).reshape({-1, group.cells, heads, head_dim}).transpose(1, 2);
    };
    const at::Tensor query = part(turned, 0);
    const at::Tensor key = part(turned, 1);
    const at::Tensor value = part(qkv, 2);
    at::Tensor output = at::empty_like(query);
    for (std::int64_t first = 0; first < group.cells; first += kTileRows) {
      interrupt.throw_if_requested();
      const std::int64_t rows = std::min(kTileRows, group.cells - first);
      output.narrow(2, first, rows).copy_(attention_with_lse(query.narrow(2, first, rows), key, value, Mask::kNone, scale).output);
    }
    seen.narrow(1, group.first, count).copy_(output.transpose(1, 2).reshape({pictures, count, config_.hidden_size}));
  }
  hidden.add_(layer.output(seen));

  at::Tensor rows = hidden.view({pictures * patches, config_.hidden_size});
  for (std::int64_t first = 0; first < rows.size(0); first += kPatchesPerBlock) {
    interrupt.throw_if_requested();
    at::Tensor tile = rows.narrow(0, first, std::min(kPatchesPerBlock, rows.size(0) - first));
    tile.add_(run(layer.mlp, run(layer.mlp_norm, tile)));
  }
  return {turned, layer.windowed};
}

at::Tensor Qwen2VlTower::through_layer(const at::Tensor& weights, const Turned& turned, const Layout& layout) const {
  at::Tensor through = at::empty_like(weights);
  for (std::int64_t picture = 0; picture < weights.size(0); ++picture) {
    const at::Tensor query_key = turned.query_key.select(0, picture);
    for (const WindowGroup& group : groups_of(turned.windowed, layout)) {
      for (std::int64_t window = 0; window < group.windows; ++window) {
        const std::int64_t first = group.first + window * group.cells;
        const auto part = [&](std::int64_t index) { return query_key.narrow(0, first, group.cells).select(1, index).transpose(0, 1); };
        through.select(0, picture)
            .narrow(0, first, group.cells)
            .copy_(through_attention(weights.select(0, picture).narrow(0, first, group.cells), part(0), part(1)));
      }
    }
  }
  return through;
}

}  // namespace winnow
