#include "engine/layers/norm.h"

namespace winnow {

at::Tensor RmsNorm::operator()(const at::Tensor& input) const {
  // mean(x^2) from the fp32 norm of each row: one pass over x instead of a widened copy, a square and a mean.
  at::Tensor scale = at::linalg_vector_norm(input, 2, {-1}, /*keepdim=*/true, at::kFloat);
  scale.mul_(scale).div_(input.size(-1)).add_(epsilon).rsqrt_();
  at::Tensor normalised = at::empty(input.sizes(), input.options());
  // The product is taken in fp32 (scale is fp32) and rounded once, then multiplied by the weight in the model's dtype.
  at::mul_out(normalised, input, scale);
  return normalised.mul_(weight);
}

at::Tensor LayerNorm::operator()(const at::Tensor& input) const { return at::layer_norm(input, {input.size(-1)}, weight, bias, epsilon); }

}  // namespace winnow
