#include "engine/layers/linear.h"

#include <vector>

#include "engine/base/error.h"

namespace winnow {

at::Tensor Linear::operator()(const at::Tensor& input) const { return at::linear(input, weight, bias); }

Linear fuse(std::span<const Linear> parts) {
  require(!parts.empty(), "fuse needs at least one linear");
  std::vector<at::Tensor> weights;
  std::vector<at::Tensor> biases;
  for (const Linear& part : parts) {
    require(part.bias.defined() == parts.front().bias.defined(), "fused linears must agree on having a bias");
    weights.push_back(part.weight);
    if (part.bias.defined()) biases.push_back(part.bias);
  }
  Linear fused;
  fused.weight = at::cat(weights, 0);
  if (!biases.empty()) fused.bias = at::cat(biases, 0);
  return fused;
}

}  // namespace winnow
