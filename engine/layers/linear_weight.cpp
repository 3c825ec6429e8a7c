#include "engine/layers/linear_weight.h"

#include "engine/layers/gemv.h"

namespace winnow {

std::int64_t LinearWeight::bytes() const {
  return packed_ != nullptr ? packed_->bytes() : dense_.numel() * static_cast<std::int64_t>(dense_.element_size());
}

at::Tensor LinearWeight::times(const at::Tensor& input, const at::Tensor& bias) const {
  if (packed_ == nullptr) {
    return has_gemv(input, dense_) ? gemv(input, dense_, bias, input.scalar_type()) : at::linear(input, dense_, bias);
  }
  at::Tensor output = packed_->times(input);
  return bias.defined() ? output.add_(bias) : output;
}

at::Tensor LinearWeight::times_gated(const at::Tensor& input, const at::Tensor& bias, Activation activation) const {
  const bool at_once = packed_ == nullptr && dense_.is_cuda() && has_gemv(input, dense_);
  return at_once ? gated_gemv(input, dense_, bias, activation) : activate_gated(activation, times(input, bias));
}

at::Tensor LinearWeight::times_in_fp32(const at::Tensor& input) const {
  if (packed_ != nullptr) return packed_->times(input.to(at::kFloat));
  return has_gemv(input, dense_) ? gemv(input, dense_, {}, at::kFloat) : at::linear(input, dense_).to(at::kFloat);
}

at::Tensor LinearWeight::columns(std::int64_t first, std::int64_t count) const {
  return packed_ != nullptr ? packed_->columns(first, count) : dense_.narrow(1, first, count);
}

at::Tensor LinearWeight::rows(const at::Tensor& ids) const {
  return packed_ != nullptr ? packed_->rows(ids) : at::embedding(dense_, ids.to(dense_.device()));
}

}  // namespace winnow
