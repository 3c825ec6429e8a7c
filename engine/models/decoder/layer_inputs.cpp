#include "engine/models/decoder/layer_inputs.h"

#include <cmath>

namespace winnow {
namespace {

constexpr std::int64_t kBase = 256;  // of the digits of an id

}  // namespace

LayerInputs::LayerInputs(const DecoderConfig& config, WeightReader& weights, const std::string& prefix)
    : sizes_(*config.layer_inputs), hidden_(config.hidden_size) {
  const std::string model = prefix + std::string(config.names.model);
  const std::int64_t all = config.layers * sizes_.size;
  table_ = weights.table(model + "embed_tokens_per_layer", sizes_.vocabulary, all);
  const at::Tensor projection = weights.tensor(model + "per_layer_model_projection.weight", {all, hidden_});
  for (std::int64_t layer = 0; layer < config.layers; ++layer)
    projections_.push_back({LinearWeight(projection.narrow(0, layer * sizes_.size, sizes_.size)), {}});
  norm_ = weights.wide_rms_norm(model + "per_layer_projection_norm", sizes_.size, config.norm_eps);
}

at::Tensor LayerInputs::with_sources(const at::Tensor& first, const at::Tensor& ids) const {
  std::vector<at::Tensor> columns = {first, first};
  at::Tensor rest = ids.to(first.device());
  for (std::int64_t digit = 0; digit < kDigits; ++digit) {
    columns.push_back(rest.remainder(kBase).to(first.scalar_type()).unsqueeze(1));
    rest = rest.floor_divide(kBase);
  }
  return at::cat(columns, 1);
}

at::Tensor LayerInputs::with_sources_of_pixels(const at::Tensor& first) const {
  return with_sources(first, at::full({first.size(0)}, sizes_.pixels_id, first.options().dtype(at::kLong)));
}

at::Tensor LayerInputs::of_layer(std::int64_t stored, const at::Tensor& sources) const {
  const at::Tensor digits = sources.narrow(1, hidden_, kDigits).to(at::kLong);
  at::Tensor ids = digits.select(1, kDigits - 1);
  for (std::int64_t digit = kDigits - 2; digit >= 0; --digit) ids = ids * kBase + digits.select(1, digit);
  const at::Tensor first = sources.narrow(1, 0, hidden_).contiguous();
  const at::Tensor projected = projections_[static_cast<std::size_t>(stored)](first) * (1.0 / std::sqrt(static_cast<double>(hidden_)));
  const at::Tensor looked_up = table_.rows(ids).narrow(1, stored * sizes_.size, sizes_.size);
  const at::Tensor scaled = looked_up * at::scalar_tensor(std::sqrt(static_cast<double>(sizes_.size)), looked_up.options());
  return (norm_(projected) + scaled).mul_(std::sqrt(0.5));
}

void LayerEnd::finish(at::Tensor& rows, const at::Tensor& input) const {
  if (input.defined()) {
    at::Tensor gated = gate(rows.contiguous());
    activate(activation, gated).mul_(input);
    rows.add_(norm(projection(gated)));
  }
  rows.mul_(factor);
}

LayerEnd read_layer_end(const DecoderConfig& config, WeightReader& weights, const std::string& prefix) {
  LayerEnd end{.factor = weights.tensor(prefix + "layer_scalar", {1})};
  if (!config.layer_inputs) return end;
  const std::int64_t size = config.layer_inputs->size;
  const auto none = WeightReader::Bias::kNone;
  end.gate = weights.packable_linear({{prefix + "per_layer_input_gate", size}}, config.hidden_size, none);
  end.projection = weights.packable_linear({{prefix + "per_layer_projection", config.hidden_size}}, size, none);
  end.norm = weights.wide_rms_norm(prefix + "post_per_layer_input_norm", config.hidden_size, config.norm_eps);
  end.activation = config.activation;
  return end;
}

}  // namespace winnow
