#include "engine/layers/norm.h"

#include <array>
#include <cmath>
#include <numeric>

namespace winnow {

namespace {

// Numbers up to which calls of libtorch's operators, of which there would be eight, cost more than the work: a few rows, or the heads of
// one.
constexpr std::int64_t kFewNumbers = std::int64_t{1} << 14;

// rows [rows, features], one after the other.
template <typename T, typename Weight>
void normalise_rows(const RmsNorm& norm, const at::Tensor& rows, at::Tensor& normalised) {
  const std::int64_t features = rows.size(-1);
  const T* from = rows.const_data_ptr<T>();
  const Weight* const weight = norm.weight.const_data_ptr<Weight>();
  T* to = normalised.mutable_data_ptr<T>();
  for (const T* const end = from + rows.numel(); from != end; from += features, to += features) {
    constexpr std::int64_t kSums = 8;  // side by side: one alone would wait for itself
    std::array<float, kSums> sums{};
    for (std::int64_t i = 0; i < features; ++i) {
      const auto value = static_cast<float>(from[i]);
      sums[static_cast<std::size_t>(i % kSums)] += value * value;
    }
    const float mean = std::accumulate(sums.begin(), sums.end(), 0.0F) / static_cast<float>(features);
    const float scale = 1.0F / std::sqrt(mean + static_cast<float>(norm.epsilon));
    for (std::int64_t i = 0; i < features; ++i)
      to[i] = static_cast<T>(static_cast<Weight>(static_cast<float>(from[i]) * scale) * weight[i]);
  }
}

}  // namespace

at::Tensor RmsNorm::operator()(const at::Tensor& input) const {
  const bool wide = weight.scalar_type() == at::kFloat;
  if (input.is_cpu() && input.is_contiguous() && input.numel() <= kFewNumbers) {
    at::Tensor few = at::empty(input.sizes(), input.options());
    if (input.scalar_type() == at::kBFloat16 && !wide) return normalise_rows<at::BFloat16, at::BFloat16>(*this, input, few), few;
    if (input.scalar_type() == at::kBFloat16) return normalise_rows<at::BFloat16, float>(*this, input, few), few;
    if (input.scalar_type() == at::kFloat && wide) return normalise_rows<float, float>(*this, input, few), few;
  }
  // mean(x^2) from the fp32 norm of each row: one pass over x instead of a widened copy, a square and a mean.
  at::Tensor scale = at::linalg_vector_norm(input, 2, {-1}, /*keepdim=*/true, at::kFloat);
  scale.mul_(scale).div_(input.size(-1)).add_(epsilon).rsqrt_();
  at::Tensor normalised = at::empty(input.sizes(), wide ? input.options().dtype(at::kFloat) : input.options());
  // The product is taken in fp32 (scale is fp32) and rounded once, then multiplied by the weight in the model's dtype.
  at::mul_out(normalised, input, scale);
  return normalised.mul_(weight).to(input.scalar_type());
}

at::Tensor LayerNorm::operator()(const at::Tensor& input) const { return at::layer_norm(input, {input.size(-1)}, weight, bias, epsilon); }

}  // namespace winnow
