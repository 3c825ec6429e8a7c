#include "engine/layers/rotary.h"

#include "engine/base/error.h"

namespace winnow {

RotaryEmbedding::RotaryEmbedding(std::int64_t head_dim, const RotaryScheme& scheme, at::ScalarType dtype, at::Device device)
    : dtype_(dtype), magnitude_(scheme.magnitude) {
  require(head_dim > 0 && head_dim % 2 == 0, "rotary embedding needs an even head size");
  // Same order of operations and types as transformers: 1 / base^(2i / d), the power in fp32.
  const at::Tensor exponent = at::arange(0, head_dim, 2, at::TensorOptions().dtype(at::kLong)).to(at::kFloat).div(head_dim);
  inverse_frequency_ = at::pow(at::Scalar(scheme.theta), exponent).reciprocal();
  if (!scheme.divisors.empty()) {
    require(std::ssize(scheme.divisors) == head_dim / 2, "rotary embedding: one divisor for each frequency");
    inverse_frequency_.div_(at::tensor(scheme.divisors, at::kFloat));
  }
  inverse_frequency_ = inverse_frequency_.to(device, /*non_blocking=*/true);
  if (scheme.frequency_axis.empty()) return;
  require(std::ssize(scheme.frequency_axis) == head_dim / 2, "rotary embedding: one axis for each frequency");
  axis_ = at::tensor(scheme.frequency_axis, at::kLong).to(device, /*non_blocking=*/true);
}

RotaryAngles RotaryEmbedding::angles(const at::Tensor& positions) const {
  at::Tensor by_axis = positions.to(inverse_frequency_.device(), at::kFloat);
  if (axis_.defined()) by_axis = by_axis.index_select(0, axis_);
  require(axis_.defined() || by_axis.size(0) == 1, "rotary embedding: positions have one axis");
  const at::Tensor turns = by_axis.t() * inverse_frequency_;  // [rows, head_dim / 2]
  at::Tensor cosine = turns.cos();
  at::Tensor sine = turns.sin();
  if (magnitude_ != 1.0) {
    cosine.mul_(magnitude_);
    sine.mul_(magnitude_);
  }
  return {cosine.to(dtype_).unsqueeze(1), sine.to(dtype_).unsqueeze(1)};
}

void apply_rotary(const at::Tensor& heads, const RotaryAngles& angles, at::Tensor& out) {
  const std::int64_t half = heads.size(-1) / 2;
  const at::Tensor first = heads.narrow(-1, 0, half);
  const at::Tensor second = heads.narrow(-1, half, half);
  at::Tensor out_first = out.narrow(-1, 0, half);
  at::Tensor out_second = out.narrow(-1, half, half);
  at::mul_out(out_first, first, angles.cosine);
  out_first.addcmul_(second, angles.sine, -1);
  at::mul_out(out_second, second, angles.cosine);
  out_second.addcmul_(first, angles.sine);
}

at::Tensor turned_keys(const at::Tensor& keys, const at::Tensor& turns, const RotaryScheme& scheme) {
  require(keys.dim() == 2 && keys.scalar_type() == at::kFloat && turns.dim() == 2 && turns.size(1) == keys.size(0),
          "turned_keys: one turn per fp32 key");
  if (!(scheme.theta > 0.0)) {
    throw Exception(ErrorCode::kIllegalRecipe, "rope",
                    "this method turns keys to other positions, and this model's carry no rotary position");
  }
  const RotaryEmbedding rotary(keys.size(1), scheme.turn_alone(), at::kFloat, keys.device());
  at::Tensor turned = at::empty_like(keys).unsqueeze(1);
  apply_rotary(keys.unsqueeze(1), rotary.angles(turns), turned);
  return turned.squeeze(1);
}

}  // namespace winnow
