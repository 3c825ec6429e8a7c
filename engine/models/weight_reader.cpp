#include "engine/models/weight_reader.h"

#include <cmath>
#include <vector>

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
  weight_bytes_ += values.numel() * static_cast<std::int64_t>(values.element_size());
  return values;
}

Linear WeightReader::linear(const std::vector<Part>& parts, std::int64_t in, Bias bias) {
  require(!parts.empty(), "a linear layer has a part");
  std::vector<at::Tensor> weights;
  std::vector<at::Tensor> biases;
  for (const Part& part : parts) {
    weights.push_back(tensor(part.prefix + ".weight", {part.out, in}));
    if (bias == Bias::kRequired) biases.push_back(tensor(part.prefix + ".bias", {part.out}));
  }
  Linear layer;
  layer.weight = weights.size() == 1 ? weights.front() : at::cat(weights, 0);
  if (!biases.empty()) layer.bias = biases.size() == 1 ? biases.front() : at::cat(biases, 0);
  return layer;
}

Linear WeightReader::packable_linear(const std::vector<Part>& parts, std::int64_t in, Bias bias) {
  Linear layer = linear(parts, in, bias);
  if (packing_ == nullptr) return layer;
  const std::int64_t as_numbers = layer.weight.bytes();
  layer.weight = packing_->pack(layer.weight.columns(0, in));
  weight_bytes_ += layer.weight.bytes() - as_numbers;
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
