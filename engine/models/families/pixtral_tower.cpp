#include "engine/models/families/pixtral_tower.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/base/error.h"
#include "engine/layers/attention.h"
#include "engine/models/vision/judged_attention.h"

namespace winnow {
namespace {

constexpr double kPixtralEpsilon = 1e-5;

}  // namespace

PixtralTower::PixtralTower(const PixtralConfig& config, const PatchGeometry& patches, WeightReader& weights, const std::string& prefix)
    : config_(config), patches_(patches), dtype_(weights.dtype()), device_(weights.device()) {
  patch_embedding_.weight =
      weights.tensor(prefix + "patch_conv.weight", {config.hidden_size, 3, patches.patch_px, patches.patch_px}).flatten(1);
  first_norm_ = weights.rms_norm(prefix + "ln_pre", config.hidden_size, kPixtralEpsilon);
  for (std::int64_t layer = 0; layer < config.layers; ++layer)
    layers_.push_back(read_layer(weights, prefix + "transformer.layers." + std::to_string(layer) + "."));
}

PixtralTower::Layer PixtralTower::read_layer(WeightReader& weights, const std::string& prefix) const {
  const auto bias = WeightReader::Bias::kNone;
  const std::int64_t hidden = config_.hidden_size;
  const std::int64_t inner = config_.intermediate_size;
  const std::string attention = prefix + "attention.";
  const std::string mlp = prefix + "feed_forward.";
  return {.attention_norm = weights.rms_norm(prefix + "attention_norm", hidden, kPixtralEpsilon),
          .qkv = weights.tower_linear({{attention + "q_proj", hidden}, {attention + "k_proj", hidden}, {attention + "v_proj", hidden}},
                                      hidden, bias),
          .output = weights.tower_linear(attention + "o_proj", hidden, hidden, bias),
          .mlp_norm = weights.rms_norm(prefix + "ffn_norm", hidden, kPixtralEpsilon),
          .mlp = {weights.tower_linear({{mlp + "gate_proj", inner}, {mlp + "up_proj", inner}}, hidden, bias),
                  weights.tower_linear(mlp + "down_proj", hidden, inner, bias), config_.activation}};
}

RotaryAngles PixtralTower::angles_of(const CellGrid& grid) const {
  std::vector<float> rows, columns;  // of each patch, cell by cell
  const std::int64_t merge = patches_.merge;
  for (std::int64_t cell = 0; cell < grid.cells(); ++cell) {
    for (std::int64_t inside = 0; inside < merge * merge; ++inside) {
      rows.push_back(static_cast<float>(cell / grid.columns * merge + inside / merge));
      columns.push_back(static_cast<float>(cell % grid.columns * merge + inside % merge));
    }
  }
  // A head has d / 2 frequencies theta^(-2i / d).
  const at::Tensor exponent = at::arange(0, config_.head_dim, 2, at::TensorOptions().dtype(at::kFloat)).div(config_.head_dim);
  const at::Tensor frequency = at::pow(at::Scalar(config_.theta), exponent).reciprocal().view({-1, 2});
  const auto turned = [&](const std::vector<float>& places, std::int64_t odd) {
    return at::tensor(places).view({-1, 1}) * frequency.select(1, odd);
  };
  const at::Tensor rotations = at::cat({turned(rows, 0), turned(columns, 1)}, 1).unsqueeze(1).to(device_);
  return {rotations.cos().to(dtype_), rotations.sin().to(dtype_)};
}

PatchFeatures PixtralTower::encode(const at::Tensor& patches, const CellGrid& grid, std::optional<VisionJudge> judge,
                                   const InterruptToken& interrupt) const {
  require(patches.dim() == 4 && patches.size(0) == grid.cells() * patches_.cell_patches(), "the patches are not those of this picture");
  const RotaryAngles angles = angles_of(grid);
  at::Tensor hidden = first_norm_(patch_embedding_(patches.flatten(1).to(at::TensorOptions(device_).dtype(dtype_))));
  std::optional<at::Tensor> before_last, last;
  for (const Layer& layer : layers_) {
    at::Tensor rotated = run_layer(layer, angles, hidden, interrupt);
    if (judge) before_last = std::exchange(last, std::move(rotated));
  }
  PatchFeatures found{hidden, {}};
  if (!judge) return found;
  const at::Tensor equal = at::full({hidden.size(0)}, 1.0 / static_cast<double>(hidden.size(0)), hidden.options().dtype(at::kFloat));
  found.importance = judged_weights(*judge, equal, last, before_last, [](const at::Tensor& weights, const at::Tensor& rotated) {
    return through_attention(weights, rotated.select(0, 0), rotated.select(0, 1));
  });
  return found;
}

at::Tensor PixtralTower::run_layer(const Layer& layer, const RotaryAngles& angles, at::Tensor& hidden,
                                   const InterruptToken& interrupt) const {
  const std::int64_t patches = hidden.size(0);
  const std::int64_t heads = config_.heads;
  const at::Tensor qkv = layer.qkv(layer.attention_norm(hidden)).view({patches, 3 * heads, config_.head_dim});
  at::Tensor turned = at::empty({patches, 2 * heads, config_.head_dim}, qkv.options());
  apply_rotary(qkv.narrow(1, 0, 2 * heads), angles, turned);
  const at::Tensor rotated = turned.view({patches, 2, heads, config_.head_dim}).permute({1, 2, 0, 3});
  const at::Tensor key = rotated.narrow(0, 1, 1);
  const at::Tensor value = qkv.narrow(1, 2 * heads, heads).transpose(0, 1).unsqueeze(0);
  const double scale = 1.0 / std::sqrt(static_cast<double>(config_.head_dim));
  at::Tensor seen = at::empty({patches, config_.hidden_size}, hidden.options());
  for (std::int64_t first = 0; first < patches; first += kTileRows) {
    interrupt.throw_if_requested();
    const std::int64_t rows = std::min(kTileRows, patches - first);
    const at::Tensor output = attention_with_lse(rotated.narrow(0, 0, 1).narrow(2, first, rows), key, value, Mask::kNone, scale).output;
    seen.narrow(0, first, rows).copy_(output.select(0, 0).transpose(0, 1).reshape({rows, config_.hidden_size}));
  }
  hidden.add_(layer.output(seen));
  for (std::int64_t first = 0; first < patches; first += kTileRows) {
    interrupt.throw_if_requested();
    at::Tensor tile = hidden.narrow(0, first, std::min(kTileRows, patches - first));
    tile.add_(layer.mlp(layer.mlp_norm(tile)));
  }
  return rotated;
}

}  // namespace winnow
