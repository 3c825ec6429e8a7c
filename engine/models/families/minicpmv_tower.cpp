#include "engine/models/families/minicpmv_tower.h"

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

constexpr double kMergerNormEpsilon = 1e-6;  // whatever the file says of the others
constexpr std::int64_t kSquare = 4;          // of two a side

// The row in a table of `side` of patches at 0, 1 / count, 2 / count ... get_vision_nearest_position_ids() in fp32.
at::Tensor table_rows(std::int64_t count, std::int64_t side) {
  const double step = 1.0 / static_cast<double>(side);
  const at::Tensor boundaries = at::arange(step, 1.0, step, at::TensorOptions().dtype(at::kFloat));
  const at::Tensor places = at::arange(count, at::TensorOptions().dtype(at::kLong)).to(at::kFloat).div(static_cast<float>(count));
  return at::bucketize(places, boundaries, /*out_int32=*/false, /*right=*/true);
}

// Numbers of patches, which lie row by row, in the order of cells and, within a cell, of squares.
std::vector<std::int64_t> cell_order(const CellGrid& cells, std::int64_t joined) {
  const std::int64_t across = cells.columns * joined;
  std::vector<std::int64_t> order;
  for (std::int64_t cell = 0; cell < cells.cells(); ++cell) {
    const std::int64_t top = cell / cells.columns * joined;
    const std::int64_t left = cell % cells.columns * joined;
    for (std::int64_t down = 0; down < joined; down += 2) {
      for (std::int64_t right = 0; right < joined; right += 2) {
        for (std::int64_t inside = 0; inside < kSquare; ++inside)
          order.push_back((top + down + inside / 2) * across + left + right + inside % 2);
      }
    }
  }
  return order;
}

}  // namespace

MiniCpmVTower::MiniCpmVTower(const MiniCpmVVision& config, std::int64_t text_hidden, WeightReader& weights)
    : config_(config), dtype_(weights.dtype()), device_(weights.device()) {
  const auto bias = WeightReader::Bias::kRequired;
  const std::int64_t hidden = config.hidden_size;
  const std::int64_t wide = kSquare * hidden;
  const std::string patches = "tower.embeddings.patch_embedding";
  patch_embedding_.weight = weights.tensor(patches + ".weight", {hidden, 3, config.patch_px, config.patch_px}).flatten(1);
  patch_embedding_.bias = weights.tensor(patches + ".bias", {hidden});
  positions_ = weights.tensor("tower.embeddings.position_embedding.weight", {config.table_side * config.table_side, hidden});
  for (std::int64_t layer = 0; layer < config.layers; ++layer)
    layers_.push_back(read_layer(weights, "tower.encoder.layers." + std::to_string(layer) + "."));
  if (config.joins_squares) {
    const std::string square = "tower.vit_merger.";
    const std::int64_t inner = kSquare * config.intermediate_size;
    square_attention_ = read_attention(weights, square + "self_attn.", square + "layer_norm1");
    square_.norm = weights.layer_norm(square + "pre_norm", wide, config.norm_eps);
    square_.mlp = {weights.tower_linear(square + "linear_1", inner, wide, bias),
                   weights.tower_linear(square + "linear_2", hidden, inner, bias), Activation::kGeluTanh};
  }
  last_norm_ = weights.layer_norm("tower.post_layernorm", hidden, config.norm_eps);
  merger_.norm = weights.layer_norm("merger.mlp.0.pre_norm", wide, kMergerNormEpsilon);
  merger_.mlp = {weights.tower_linear("merger.mlp.0.linear_1", wide, wide, bias),
                 weights.tower_linear("merger.mlp.0.linear_2", text_hidden, wide, bias), Activation::kGelu};
}

MiniCpmVTower::Attention MiniCpmVTower::read_attention(WeightReader& weights, const std::string& prefix, const std::string& norm) const {
  const auto bias = WeightReader::Bias::kRequired;
  const std::int64_t hidden = config_.hidden_size;
  return {weights.layer_norm(norm, hidden, config_.norm_eps),
          weights.tower_linear({{prefix + "q_proj", hidden}, {prefix + "k_proj", hidden}, {prefix + "v_proj", hidden}}, hidden, bias),
          weights.tower_linear(prefix + "out_proj", hidden, hidden, bias)};
}

MiniCpmVTower::Layer MiniCpmVTower::read_layer(WeightReader& weights, const std::string& prefix) const {
  const auto bias = WeightReader::Bias::kRequired;
  const std::int64_t hidden = config_.hidden_size;
  const std::int64_t inner = config_.intermediate_size;
  return {read_attention(weights, prefix + "self_attn.", prefix + "layer_norm1"),
          weights.layer_norm(prefix + "layer_norm2", hidden, config_.norm_eps),
          {weights.tower_linear(prefix + "mlp.fc1", inner, hidden, bias), weights.tower_linear(prefix + "mlp.fc2", hidden, inner, bias),
           config_.activation}};
}

MiniCpmVTower::Layout MiniCpmVTower::layout_of(const CellGrid& cells, std::int64_t joined) const {
  const at::Tensor rows = table_rows(cells.rows * joined, config_.table_side);
  const at::Tensor columns = table_rows(cells.columns * joined, config_.table_side);
  const at::Tensor places = (rows.unsqueeze(1) * config_.table_side + columns.unsqueeze(0)).flatten().to(device_);
  Layout layout{joined, numbers_on(device_, cell_order(cells, joined)), {}};
  layout.positions = positions_.index_select(0, places.index_select(0, layout.order));
  return layout;
}

MergedCells MiniCpmVTower::encode(const at::Tensor& patches, const CellGrid& cells, std::int64_t joined, std::optional<VisionJudge> judge,
                                  const InterruptToken& interrupt) const {
  const std::int64_t each = cells.cells() * joined * joined;
  require(joined == 2 || (joined == 4 && config_.joins_squares), "a token is made of four patches or of sixteen");
  require(patches.dim() == 2 && patches.size(0) > 0 && patches.size(0) % each == 0, "the patches are not those of pictures of this size");
  const Layout layout = layout_of(cells, joined);
  return encoded_in_blocks(patches.unflatten(0, {patches.size(0) / each, each}), std::max<std::int64_t>(1, kPatchesPerBlock / each),
                           [&](const at::Tensor& block) { return encode_block(block, layout, judge, interrupt); });
}

MergedCells MiniCpmVTower::encode_block(const at::Tensor& patches, const Layout& layout, std::optional<VisionJudge> judge,
                                        const InterruptToken& interrupt) const {
  at::Tensor hidden = patch_embedding_(patches.to(at::TensorOptions(device_).dtype(dtype_)).index_select(1, layout.order));
  hidden.add_(layout.positions);
  std::optional<at::Tensor> before_last, last;
  for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
    at::Tensor qkv = run_layer(layers_[layer], hidden, interrupt);
    if (judge) before_last = std::exchange(last, std::move(qkv));
    if (layout.joined == 2 || static_cast<std::int64_t>(layer) != config_.merger_layer) continue;
    hidden = squares_joined(hidden, interrupt);
    before_last.reset();
    last.reset();
  }
  const std::int64_t cells = hidden.size(1) / kSquare;
  const at::Tensor joint = last_norm_(hidden).view({hidden.size(0), cells, kSquare * config_.hidden_size});
  MergedCells found{merger_.mlp(merger_.norm(joint)), {}};
  if (!judge) return found;
  const at::Tensor equal =
      at::full({hidden.size(0), hidden.size(1)}, 1.0 / static_cast<double>(hidden.size(1)), hidden.options().dtype(at::kFloat));
  const auto through = [](const at::Tensor& weights, const at::Tensor& qkv) {
    std::vector<at::Tensor> of_pictures;
    for (std::int64_t picture = 0; picture < qkv.size(0); ++picture) {
      const auto part = [&](std::int64_t index) { return qkv[picture].select(1, index).transpose(0, 1); };  // [heads, patches, d]
      of_pictures.push_back(through_attention(weights[picture], part(0), part(1)));
    }
    return at::stack(of_pictures);
  };
  found.importance = judged_weights(*judge, equal, last, before_last, through).view({hidden.size(0), cells, kSquare}).mean(2);
  return found;
}

at::Tensor MiniCpmVTower::attend(const Attention& attention, at::Tensor& hidden, const InterruptToken& interrupt) const {
  const std::int64_t sequences = hidden.size(0);
  const std::int64_t rows = hidden.size(1);
  at::Tensor qkv = attention.qkv(attention.norm(hidden)).view({sequences, rows, 3, config_.heads, config_.head_dim});
  const auto part = [&](std::int64_t index) { return qkv.select(2, index).transpose(1, 2); };  // [sequences, heads, rows, d]
  const at::Tensor query = part(0);
  const at::Tensor key = part(1);
  const at::Tensor value = part(2);
  const double scale = 1.0 / std::sqrt(static_cast<double>(config_.head_dim));
  at::Tensor seen = at::empty({sequences, rows, config_.hidden_size}, hidden.options());
  for (std::int64_t first = 0; first < rows; first += kTileRows) {
    interrupt.throw_if_requested();
    const std::int64_t count = std::min(kTileRows, rows - first);
    const at::Tensor output = attention_with_lse(query.narrow(2, first, count), key, value, Mask::kNone, scale).output;
    seen.narrow(1, first, count).copy_(output.transpose(1, 2).reshape({sequences, count, config_.hidden_size}));
  }
  hidden.add_(attention.output(seen));
  return qkv;
}

at::Tensor MiniCpmVTower::run_layer(const Layer& layer, at::Tensor& hidden, const InterruptToken& interrupt) const {
  at::Tensor qkv = attend(layer.attention, hidden, interrupt);
  at::Tensor rows = hidden.view({-1, config_.hidden_size});
  for (std::int64_t first = 0; first < rows.size(0); first += kPatchesPerBlock) {
    interrupt.throw_if_requested();
    at::Tensor tile = rows.narrow(0, first, std::min(kPatchesPerBlock, rows.size(0) - first));
    tile.add_(layer.mlp(layer.mlp_norm(tile)));
  }
  return qkv;
}

at::Tensor MiniCpmVTower::squares_joined(at::Tensor hidden, const InterruptToken& interrupt) const {
  const std::int64_t pictures = hidden.size(0);
  at::Tensor squares = hidden.view({-1, kSquare, config_.hidden_size});
  attend(square_attention_, squares, interrupt);
  at::Tensor joined = square_.mlp(square_.norm(squares.flatten(1)));
  return joined.add_(squares.mean(1)).view({pictures, -1, config_.hidden_size});
}

}  // namespace winnow
