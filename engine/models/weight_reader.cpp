#include "engine/models/weight_reader.h"

#include <cmath>

#include "engine/base/error.h"

namespace winnow {

at::Tensor WeightReader::tensor(const std::string& name, at::IntArrayRef shape) {
  at::Tensor values = weights_.load(name, shape, dtype_, device_);
  // Smallest and largest carry NaN along: one pass, no mask of the tensor's size.
  const auto [smallest, largest] = at::aminmax(values);
  if (!std::isfinite(smallest.item<float>()) || !std::isfinite(largest.item<float>())) {
    throw Exception(ErrorCode::kDamagedFile, name, "the tensor holds values that are not finite numbers");
  }
  parameter_count_ += values.numel();
  return values;
}

Linear WeightReader::linear(const std::string& prefix, std::int64_t out, std::int64_t in, Bias bias) {
  Linear layer;
  layer.weight = tensor(prefix + ".weight", {out, in});
  if (bias == Bias::kRequired) layer.bias = tensor(prefix + ".bias", {out});
  return layer;
}

RmsNorm WeightReader::rms_norm(const std::string& prefix, std::int64_t features, double epsilon) {
  return {tensor(prefix + ".weight", {features}), epsilon};
}

LayerNorm WeightReader::layer_norm(const std::string& prefix, std::int64_t features, double epsilon) {
  LayerNorm norm;
  norm.weight = tensor(prefix + ".weight", {features});
  norm.bias = tensor(prefix + ".bias", {features});
  norm.epsilon = epsilon;
  return norm;
}

}  // namespace winnow
