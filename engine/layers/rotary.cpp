#include "engine/layers/rotary.h"

#include "engine/base/error.h"
#include "engine/device/host_numbers.h"

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
  axis_ = numbers_on(device, scheme.frequency_axis);
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

namespace {

// Rows up to which calls of libtorch's operators, of which there are four beside their views, cost more than the work.
constexpr std::int64_t kFewRows = 8;

// One after the other, each operation rounded as libtorch's are below.
template <class T>
void turn_rows(const at::Tensor& heads, const RotaryAngles& angles, at::Tensor& out) {
  const std::int64_t half = heads.size(2) / 2;
  const T* const from = heads.const_data_ptr<T>();
  T* const to = out.mutable_data_ptr<T>();
  for (std::int64_t row = 0; row < heads.size(0); ++row) {
    const T* const cosine = angles.cosine.const_data_ptr<T>() + row * half;
    const T* const sine = angles.sine.const_data_ptr<T>() + row * half;
    for (std::int64_t head = 0; head < heads.size(1); ++head) {
      const T* const first = from + row * heads.stride(0) + head * heads.stride(1);
      T* const turned = to + row * out.stride(0) + head * out.stride(1);
      for (std::int64_t i = 0; i < half; ++i) {
        const auto a = static_cast<float>(first[i]), b = static_cast<float>(first[half + i]);
        const auto c = static_cast<float>(cosine[i]), s = static_cast<float>(sine[i]);
        turned[i] = static_cast<T>(static_cast<float>(static_cast<T>(a * c)) - b * s);
        turned[half + i] = static_cast<T>(static_cast<float>(static_cast<T>(b * c)) + a * s);
      }
    }
  }
}

bool turns_few(const at::Tensor& heads, const RotaryAngles& angles) {
  return heads.is_cpu() && heads.dim() == 3 && heads.size(0) <= kFewRows && heads.stride(2) == 1 && angles.cosine.is_contiguous() &&
         angles.sine.is_contiguous() && angles.cosine.scalar_type() == heads.scalar_type();
}

}  // namespace

void apply_rotary(const at::Tensor& heads, const RotaryAngles& angles, at::Tensor& out) {
  if (turns_few(heads, angles) && out.stride(2) == 1) {
    if (heads.scalar_type() == at::kFloat) return turn_rows<float>(heads, angles, out);
    if (heads.scalar_type() == at::kBFloat16) return turn_rows<at::BFloat16>(heads, angles, out);
  }
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
