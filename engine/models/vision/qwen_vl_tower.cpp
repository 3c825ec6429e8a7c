#include "engine/models/vision/qwen_vl_tower.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/base/error.h"
#include "engine/device/host_numbers.h"
#include "engine/layers/attention.h"
#include "engine/models/vision/judged_attention.h"
#include "engine/models/vision/picture_blocks.h"

namespace winnow {
namespace {

at::Tensor run(const auto& one_of, const at::Tensor& input) {
  return std::visit([&](const auto& layer) { return layer(input); }, one_of);
}

}  // namespace

QwenVlTower::QwenVlTower(const QwenVisionConfig& config, WeightReader& weights, const std::string& prefix)
    : config_(config), dtype_(weights.dtype()), device_(weights.device()), merger_(Merger{}) {
  patch_embedding_.weight = read_patch_kernel(weights, prefix + "patch_embed.proj").flatten(1);
  for (std::int64_t layer = 0; layer < config.layers; ++layer)
    layers_.push_back(read_layer(weights, prefix + "blocks." + std::to_string(layer) + ".", layer));
  if (config.downsample) {
    const std::int64_t side = config.downsample->table_side;
    patch_embedding_.bias = weights.tensor(prefix + "patch_embed.proj.bias", {config.hidden_size});
    patch_norm_ = weights.rms_norm(prefix + "post_conv_layernorm", config.hidden_size, config.norm_eps);
    position_table_ = weights.tensor(prefix + "embeddings.position_embedding.weight", {side * side, config.hidden_size});
    merger_ = read_downsampling_merger(config, weights, prefix);
    return;
  }
  merger_ = read_merger(weights, prefix + "merger.", CellNorm::kOfPatches);
  if (!config.deepstack) return;
  const auto& [side, behind] = *config.deepstack;
  patch_embedding_.bias = weights.tensor(prefix + "patch_embed.proj.bias", {config.hidden_size});
  position_table_ = weights.tensor(prefix + "pos_embed.weight", {side * side, config.hidden_size});
  for (std::size_t i = 0; i < behind.size(); ++i) {
    layers_[static_cast<std::size_t>(behind[i])].deepstack =
        read_merger(weights, prefix + "deepstack_merger_list." + std::to_string(i) + ".", CellNorm::kOfCells);
  }
}

// One kernel over all joined frames, or (GGUF) one for each of them.
at::Tensor QwenVlTower::read_patch_kernel(WeightReader& weights, const std::string& prefix) const {
  const std::int64_t patch = config_.patches.patch_px;
  const std::int64_t frames = config_.patches.joined_frames;
  if (weights.has(prefix + ".weight")) return weights.tensor(prefix + ".weight", {config_.hidden_size, 3, frames, patch, patch});
  std::vector<at::Tensor> kernels;
  for (std::int64_t frame = 0; frame < frames; ++frame)
    kernels.push_back(weights.tensor(prefix + "." + std::to_string(frame) + ".weight", {config_.hidden_size, 3, patch, patch}));
  return at::stack(kernels, 2);
}

// One matrix for queries, keys and values, or (GGUF) three.
Linear QwenVlTower::read_qkv(WeightReader& weights, const std::string& prefix) const {
  const bool biased = !config_.downsample || config_.downsample->qkv_bias;
  const auto bias = biased ? WeightReader::Bias::kRequired : WeightReader::Bias::kNone;
  const std::int64_t hidden = config_.hidden_size;
  if (!weights.has(prefix + "q.weight")) return weights.tower_linear(prefix + "qkv", 3 * hidden, hidden, bias);
  return weights.tower_linear({{prefix + "q", hidden}, {prefix + "k", hidden}, {prefix + "v", hidden}}, hidden, bias);
}

std::variant<LayerNorm, RmsNorm> QwenVlTower::read_norm(WeightReader& weights, const std::string& prefix) const {
  if (config_.gated()) return weights.rms_norm(prefix, config_.hidden_size, config_.norm_eps);
  return weights.layer_norm(prefix, config_.hidden_size, config_.norm_eps);
}

QwenVlTower::Merger QwenVlTower::read_merger(WeightReader& weights, const std::string& prefix, CellNorm place) const {
  const auto bias = WeightReader::Bias::kRequired;
  const auto named = [&](std::string_view name) { return prefix + std::string(name); };
  const std::int64_t joined = config_.hidden_size * config_.patches.cell_patches();
  const std::string norm = named(config_.names.merger_norm);
  return {place,
          place == CellNorm::kOfCells ? weights.layer_norm(norm, joined, config_.norm_eps) : read_norm(weights, norm),
          {weights.tower_linear(named(config_.names.merger_first), joined, joined, bias),
           weights.tower_linear(named(config_.names.merger_second), config_.out_size, joined, bias), Activation::kGelu}};
}

at::Tensor QwenVlTower::merged(const Merger& merger, const at::Tensor& hidden) const {
  const std::int64_t joined = config_.hidden_size * config_.patches.cell_patches();
  const at::Tensor cells = hidden.view({hidden.size(0), -1, joined});
  return merger.mlp(merger.place == CellNorm::kOfCells ? run(merger.norm, cells) : run(merger.norm, hidden).view_as(cells));
}

QwenVlTower::Layer QwenVlTower::read_layer(WeightReader& weights, const std::string& prefix, std::int64_t index) const {
  const auto bias = config_.downsample ? WeightReader::Bias::kNone : WeightReader::Bias::kRequired;
  const std::int64_t hidden = config_.hidden_size;
  const std::int64_t inner = config_.intermediate_size;
  Layer layer;
  layer.attention_norm = read_norm(weights, prefix + "norm1");
  layer.qkv = read_qkv(weights, prefix + "attn.");
  layer.output = weights.tower_linear(prefix + "attn.proj", hidden, hidden, bias);
  layer.mlp_norm = read_norm(weights, prefix + "norm2");
  if (config_.windows) layer.windowed = std::ranges::find(config_.windows->whole_layers, index) == config_.windows->whole_layers.end();
  if (config_.gated()) {
    const std::string mlp = prefix + "mlp.";
    layer.mlp = GatedMlp{weights.tower_linear({{mlp + "gate_proj", inner}, {mlp + "up_proj", inner}}, hidden, bias),
                         weights.tower_linear(mlp + "down_proj", hidden, inner, bias), config_.activation};
  } else {
    layer.mlp = PlainMlp{weights.tower_linear(prefix + std::string(config_.names.first), inner, hidden, bias),
                         weights.tower_linear(prefix + std::string(config_.names.second), hidden, inner, bias), config_.activation};
  }
  return layer;
}

QwenVlTower::Layout QwenVlTower::layout_of(const CellGrid& grid) const {
  const std::int64_t merge = config_.patches.merge;
  const std::int64_t unit = config_.patches.cell_patches();
  Layout layout{.grid = grid,
                .windows = window_order(grid, config_.windows ? config_.windows->side_cells : std::max(grid.rows, grid.columns))};
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
  // Half of a head's rotations are the row's, the other half the column's; both with the frequencies of half a head.
  const std::int64_t half = config_.head_dim / 2;
  const at::Tensor exponent = at::arange(0, half, 2, at::TensorOptions().dtype(at::kFloat)).div(half);
  const at::Tensor frequency = at::pow(at::Scalar(config_.theta), exponent).reciprocal();
  const at::Tensor rotations = (at::tensor(places).view({-1, 2, 1}) * frequency).view({-1, 1, half}).to(device_);
  layout.angles = {rotations.cos(), rotations.sin()};
  if (config_.deepstack) layout.positions = stretched_positions(grid, at::tensor(places).view({-1, 2}).to(at::kLong));
  if (config_.downsample) layout.positions = curved_positions(grid, at::tensor(places).view({-1, 2}));
  return layout;
}

// Qwen3VLVisionModel.fast_pos_embed_interpolate: places are fp32, weights are rounded to the table's type, the four neighbours are summed
// up in this order.
at::Tensor QwenVlTower::stretched_positions(const CellGrid& grid, const at::Tensor& places) const {
  const std::int64_t side = config_.deepstack->table_side;
  const std::int64_t merge = config_.patches.merge;
  struct Along {
    at::Tensor below, above, rest;  // of each patch
  };
  const auto along = [&](std::int64_t axis, std::int64_t patches) {
    const at::Tensor at = at::linspace(0, static_cast<double>(side - 1), patches, at::TensorOptions().dtype(at::kFloat));
    const at::Tensor below = at.to(at::kLong);
    const at::Tensor mine = places.select(1, axis);
    return Along{below.index_select(0, mine), (below + 1).clamp_max(side - 1).index_select(0, mine), (at - below).index_select(0, mine)};
  };
  const Along down = along(0, grid.rows * merge);
  const Along across = along(1, grid.columns * merge);
  const auto part = [&](const at::Tensor& row, const at::Tensor& column, const at::Tensor& weight) {
    return position_table_.index_select(0, (row * side + column).to(device_))
        .mul_(weight.to(at::TensorOptions(device_).dtype(dtype_)).unsqueeze(1));
  };
  return part(down.below, across.below, (1 - down.rest) * (1 - across.rest))
      .add_(part(down.below, across.above, (1 - down.rest) * across.rest))
      .add_(part(down.above, across.below, down.rest * (1 - across.rest)))
      .add_(part(down.above, across.above, down.rest * across.rest));
}

// Glm4vVisionEmbeddings: in fp32, each patch at its middle, beyond the table its border.
at::Tensor QwenVlTower::curved_positions(const CellGrid& grid, const at::Tensor& places) const {
  const std::int64_t side = config_.downsample->table_side;
  const auto merge = static_cast<double>(config_.patches.merge);
  const at::Tensor sides = at::tensor({static_cast<double>(grid.rows) * merge, static_cast<double>(grid.columns) * merge}, at::kFloat);
  const at::Tensor middles = ((places + 0.5) / sides * 2 - 1).flip({1}).view({1, -1, 1, 2});  // column before row
  const at::Tensor table = position_table_.to(at::TensorOptions(at::kCPU).dtype(at::kFloat))
                               .view({side, side, config_.hidden_size})
                               .permute({2, 0, 1})
                               .unsqueeze(0);
  constexpr std::int64_t kBicubic = 2;
  constexpr std::int64_t kBorder = 1;
  return at::grid_sampler_2d(table, middles, kBicubic, kBorder, false)
      .view({config_.hidden_size, -1})
      .t()
      .to(at::TensorOptions(device_).dtype(dtype_));
}

CellFeatures QwenVlTower::encode(const PixelValues& pixels, const CellGrid& grid, std::optional<VisionJudge> judge,
                                 const InterruptToken& interrupt) const {
  const at::Tensor& patches = pixels.pixels;
  const std::int64_t each = grid.cells() * config_.patches.cell_patches();
  require(patches.dim() == 2 && patches.size(0) > 0 && patches.size(0) % each == 0, "the patches are not those of pictures of this size");
  const Layout layout = layout_of(grid);
  if (std::ranges::find(pixels.kept, false) != pixels.kept.end()) {
    require(!judge && !config_.windows, "the tower encodes parts of a picture without windows, and judges none of them");
    return encode_kept(patches.unflatten(0, {patches.size(0) / each, each}), layout, pixels.kept, interrupt);
  }
  return encoded_in_blocks(patches.unflatten(0, {patches.size(0) / each, each}), std::max<std::int64_t>(1, kPatchesPerBlock / each),
                           [&](const at::Tensor& block) { return encode_block(block.flatten(0, 1), layout, judge, interrupt); });
}

CellFeatures QwenVlTower::encode_kept(const at::Tensor& pictures, const Layout& layout, const std::vector<bool>& kept,
                                      const InterruptToken& interrupt) const {
  const std::int64_t unit = config_.patches.cell_patches();
  const std::int64_t cells = layout.grid.cells();
  const std::int64_t width = config_.out_size * (1 + config_.deepstack_layers());
  std::vector<at::Tensor> features, importance;
  for (std::int64_t picture = 0; picture < pictures.size(0); ++picture) {
    std::vector<std::int64_t> stays, rows;  // cells, and their patches
    for (std::int64_t cell = 0; cell < cells; ++cell) {
      if (!kept[static_cast<std::size_t>(picture * cells + cell)]) continue;
      stays.push_back(cell);
      for (std::int64_t patch = cell * unit; patch < (cell + 1) * unit; ++patch) rows.push_back(patch);
    }
    const auto count = std::ssize(stays);
    features.push_back(at::zeros({1, cells, width}, at::TensorOptions(device_).dtype(dtype_)));
    importance.push_back(at::zeros({1, cells}, at::TensorOptions(device_).dtype(at::kFloat)));
    if (count == 0) continue;
    Layout part{{1, count}, {{}, {{0, 1, count * unit}}}, {0, 1, count * unit}, {}, {}};
    for (std::int64_t cell = 0; cell < count; ++cell) part.windows.cells.push_back(cell);
    const at::Tensor taken = numbers_on(device_, rows);
    part.angles = {layout.angles.cosine.index_select(0, taken), layout.angles.sine.index_select(0, taken)};
    if (layout.positions.defined()) part.positions = layout.positions.index_select(0, taken);
    const at::Tensor patches = pictures[picture].index_select(0, numbers_on(pictures.device(), rows));
    const at::Tensor at_cells = numbers_on(device_, stays);
    features.back().index_copy_(1, at_cells, encode_block(patches, part, std::nullopt, interrupt).features);
    importance.back().index_fill_(1, at_cells, 1.0);
  }
  return {at::cat(features, 0), at::cat(importance, 0)};
}

CellFeatures QwenVlTower::encode_block(const at::Tensor& patches, const Layout& layout, std::optional<VisionJudge> judge,
                                       const InterruptToken& interrupt) const {
  const std::int64_t unit = config_.patches.cell_patches();
  const std::int64_t cells = layout.grid.cells();
  const at::Tensor order = numbers_on(device_, layout.windows.cells);
  at::Tensor hidden = patch_embedding_(patches.to(at::TensorOptions(device_).dtype(dtype_)))
                          .view({-1, cells, unit * config_.hidden_size})
                          .index_select(1, order)
                          .view({-1, cells * unit, config_.hidden_size});
  if (patch_norm_) hidden = (*patch_norm_)(hidden);
  if (layout.positions.defined()) hidden.add_(layout.positions);
  std::optional<Rotated> before_last, last;
  std::vector<at::Tensor> features(1);  // the last layer's first
  for (const Layer& layer : layers_) {
    Rotated rotated = run_layer(layer, layout, hidden, interrupt);
    if (judge) before_last = std::exchange(last, std::move(rotated));
    if (layer.deepstack) features.push_back(merged(*layer.deepstack, hidden));
  }
  features.front() = std::visit([&](const auto& merger) { return merged(merger, hidden); }, merger_);
  const at::Tensor back = at::argsort(order);
  CellFeatures found{.features = at::cat(features, 2).index_select(1, back)};
  if (!judge) return found;
  const at::Tensor equal =
      at::full({hidden.size(0), hidden.size(1)}, 1.0 / static_cast<double>(hidden.size(1)), hidden.options().dtype(at::kFloat));
  const auto through = [&](const at::Tensor& weights, const Rotated& rotated) { return through_layer(weights, rotated, layout); };
  found.importance = judged_weights(*judge, equal, last, before_last, through).view({-1, cells, unit}).mean(2).index_select(1, back);
  return found;
}

std::vector<WindowGroup> QwenVlTower::groups_of(bool windowed, const Layout& layout) const {
  return windowed ? layout.windows.groups : std::vector<WindowGroup>{layout.whole};
}

QwenVlTower::Rotated QwenVlTower::run_layer(const Layer& layer, const Layout& layout, at::Tensor& hidden,
                                            const InterruptToken& interrupt) const {
  const std::int64_t pictures = hidden.size(0);
  const std::int64_t patches = hidden.size(1);
  const std::int64_t heads = config_.heads;
  const std::int64_t head_dim = config_.head_dim;
  const at::Tensor qkv = layer.qkv(run(layer.attention_norm, hidden)).view({pictures, patches, 3, heads, head_dim});
  const at::Tensor wide = qkv.narrow(2, 0, 2).to(at::kFloat);
  at::Tensor rotated = at::empty({pictures, patches, 2, heads, head_dim}, wide.options());
  for (std::int64_t picture = 0; picture < pictures; ++picture) {
    at::Tensor out = rotated[picture].view({patches, 2 * heads, head_dim});
    apply_rotary(wide[picture].view({patches, 2 * heads, head_dim}), layout.angles, out);
  }
  rotated = rotated.to(dtype_);

  const double scale = 1.0 / std::sqrt(static_cast<double>(head_dim));
  at::Tensor seen = at::empty({pictures, patches, config_.hidden_size}, hidden.options());
  for (const WindowGroup& group : groups_of(layer.windowed, layout)) {
    const std::int64_t count = group.windows * group.cells;
    const auto part = [&](const at::Tensor& of, std::int64_t index) {  // [windows of all pictures, heads, patches, d]
      return of.select(2, index).narrow(1, group.first, count).reshape({-1, group.cells, heads, head_dim}).transpose(1, 2);
    };
    const at::Tensor query = part(rotated, 0);
    const at::Tensor key = part(rotated, 1);
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
  return {rotated, layer.windowed};
}

at::Tensor QwenVlTower::through_layer(const at::Tensor& weights, const Rotated& rotated, const Layout& layout) const {
  at::Tensor through = at::empty_like(weights);
  for (std::int64_t picture = 0; picture < weights.size(0); ++picture) {
    const at::Tensor query_key = rotated.query_key.select(0, picture);
    for (const WindowGroup& group : groups_of(rotated.windowed, layout)) {
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

at::Tensor DownsamplingMerger::operator()(const at::Tensor& hidden) const {
  const at::Tensor normalised = last_norm(hidden);
  const at::Tensor cells = downsample(normalised.view({-1, cell_patches * normalised.size(-1)}));
  const at::Tensor tokens = mlp(at::gelu(merger_norm(projection(cells))));
  return tokens.view({hidden.size(0), -1, tokens.size(-1)});
}

DownsamplingMerger read_downsampling_merger(const QwenVisionConfig& config, WeightReader& weights, const std::string& prefix) {
  constexpr double kMergerEpsilon = 1e-5;  // torch's, whatever the file says of the others
  const auto none = WeightReader::Bias::kNone;
  const std::int64_t hidden = config.hidden_size;
  const std::int64_t out = config.out_size;
  const std::int64_t side = config.patches.merge;
  const std::int64_t inner = config.downsample->merger_size;
  const std::string merger = prefix + "merger.";
  DownsamplingMerger read{.cell_patches = config.patches.cell_patches(),
                          .last_norm = weights.rms_norm(prefix + "post_layernorm", hidden, config.norm_eps)};
  const at::Tensor kernel = weights.tensor(prefix + "downsample.weight", {out, hidden, side, side});
  read.downsample.weight = kernel.permute({0, 2, 3, 1}).flatten(1).contiguous();
  read.downsample.bias = weights.tensor(prefix + "downsample.bias", {out});
  read.projection = weights.tower_linear(merger + "proj", out, out, none);
  read.merger_norm = weights.layer_norm(merger + "post_projection_norm", out, kMergerEpsilon);
  read.mlp = {weights.tower_linear({{merger + "gate_proj", inner}, {merger + "up_proj", inner}}, out, none),
              weights.tower_linear(merger + "down_proj", out, inner, none), config.activation};
  return read;
}

}  // namespace winnow
