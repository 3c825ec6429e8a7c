#include "engine/models/gemma4/patch_embedder.h"

#include <algorithm>

#include "engine/base/error.h"

namespace winnow {
namespace {

constexpr double kTorchEpsilon = 1e-5;  // which the class does not change

}  // namespace

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
