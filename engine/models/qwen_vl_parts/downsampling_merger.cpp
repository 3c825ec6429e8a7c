#include "engine/models/qwen_vl_parts/downsampling_merger.h"

namespace winnow {

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
  DownsamplingMerger read;
  read.cell_patches = config.patches.cell_patches();
  read.last_norm = weights.rms_norm(prefix + "post_layernorm", hidden, config.norm_eps);
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
