#include "engine/layers/rotary.h"

#include <algorithm>
#include <vector>

#include "engine/base/error.h"
#include "engine/device/cuda_plugin.h"
#include "engine/device/host_numbers.h"
#include "engine/device/work_team.h"
#include "engine/kv_cache/element_type.h"
#include "engine/layers/row_elements.h"
#include "kernels/api/rotary.h"

namespace winnow {

at::Tensor turn_frequencies(std::int64_t head_dim, const RotaryScheme& scheme) {
  require(head_dim > 0 && head_dim % 2 == 0, "rotary embedding needs an even head size");
  const std::int64_t rotated = scheme.rotated == 0 ? head_dim : scheme.rotated;
  if (scheme.theta == 0.0) return at::zeros({head_dim / 2});
  require(rotated > 0 && rotated <= head_dim && rotated % 2 == 0, "rotary embedding: whole pairs of a head are rotated");
  // Same order of operations and types as transformers: 1 / base^(2i / d), the power in fp32.
  const at::Tensor exponent = at::arange(0, rotated, 2, at::TensorOptions().dtype(at::kLong)).to(at::kFloat).div(rotated);
  at::Tensor frequencies = at::pow(at::Scalar(scheme.theta), exponent).reciprocal();
  if (!scheme.divisors.empty()) {
    require(std::ssize(scheme.divisors) == rotated / 2, "rotary embedding: one divisor for each frequency");
    frequencies.div_(at::tensor(scheme.divisors, at::kFloat));
  }
  return at::constant_pad_nd(frequencies, {0, (head_dim - rotated) / 2});  // the rest is not rotated
}

void require_turn(const RotaryScheme& scheme) {
  if (scheme.theta > 0.0) return;
  throw Exception(ErrorCode::kIllegalRecipe, "rope",
                  "this method rotates keys to other positions, and this model's carry no rotary position");
}

RotaryEmbedding::RotaryEmbedding(std::int64_t head_dim, const RotaryScheme& scheme, at::ScalarType dtype, at::Device device)
    : inverse_frequency_(turn_frequencies(head_dim, scheme).to(device, /*non_blocking=*/true)),
      dtype_(dtype),
      magnitude_(scheme.magnitude) {
  if (scheme.frequency_axis.empty()) return;
  require(std::ssize(scheme.frequency_axis) == (scheme.rotated == 0 ? head_dim : scheme.rotated) / 2,
          "rotary embedding: one axis for each frequency");
  std::vector<std::int64_t> axis = scheme.frequency_axis;
  axis.resize(static_cast<std::size_t>(head_dim / 2), 0);
  axis_ = numbers_on(device, axis);
}

RotaryAngles RotaryEmbedding::angles(const at::Tensor& positions) const {
  at::Tensor by_axis = positions.to(inverse_frequency_.device(), at::kFloat);
  if (axis_.defined()) by_axis = by_axis.index_select(0, axis_);
  require(axis_.defined() || by_axis.size(0) == 1, "rotary embedding: positions have one axis");
  return angles_of((by_axis.t() * inverse_frequency_).contiguous());
}

RotaryAngles RotaryEmbedding::angles_at(std::int64_t position) const {
  return angles_of((inverse_frequency_ * at::Scalar(position)).unsqueeze(0));
}

// rotations: fp32 [rows, head_dim / 2].
RotaryAngles RotaryEmbedding::angles_of(const at::Tensor& rotations) const {
  at::Tensor cosine = rotations.cos();
  at::Tensor sine = rotations.sin();
  if (magnitude_ != 1.0) {
    cosine.mul_(magnitude_);
    sine.mul_(magnitude_);
  }
  return {cosine.to(dtype_).unsqueeze(1), sine.to(dtype_).unsqueeze(1)};
}

void apply_rotary(const at::Tensor& heads, const RotaryAngles& angles, at::Tensor& out) {
  require(heads.dim() == 3 && out.sizes() == heads.sizes() && heads.stride(2) == 1 && out.stride(2) == 1, "rotary: rows of heads");
  require(angles.cosine.is_contiguous() && angles.sine.is_contiguous() && angles.cosine.numel() == heads.size(0) * heads.size(2) / 2 &&
              angles.sine.sizes() == angles.cosine.sizes() && angles.cosine.scalar_type() == heads.scalar_type() &&
              out.scalar_type() == heads.scalar_type(),
          "rotary: the angles of every row, in the heads' type");
  kernels::RotaryArgs all;
  all.type = element_type(heads.scalar_type());
  all.rows = heads.size(0);
  all.heads = heads.size(1);
  all.half = heads.size(2) / 2;
  all.input = heads.const_data_ptr();
  all.input_strides = {heads.stride(0), heads.stride(1)};
  all.cosine = angles.cosine.const_data_ptr();
  all.sine = angles.sine.const_data_ptr();
  all.output = out.mutable_data_ptr();
  all.output_strides = {out.stride(0), out.stride(1)};
  if (!heads.is_cpu()) return require_launched(cuda_plugin().rotary(&all), "rotary positions");
  const std::int64_t bytes = heads.element_size();
  const std::int64_t numbers = std::max<std::int64_t>(1, heads.size(1) * heads.size(2));
  share_work(all.rows, std::max<std::int64_t>(1, kGrainNumbers / numbers), [&](std::int64_t begin, std::int64_t end) {
    const auto moved = [&](const void* from, std::int64_t stride) { return static_cast<const std::byte*>(from) + begin * stride * bytes; };
    kernels::RotaryArgs part = all;
    part.rows = end - begin;
    part.input = moved(all.input, all.input_strides.row);
    part.cosine = moved(all.cosine, all.half);
    part.sine = moved(all.sine, all.half);
    part.output = static_cast<std::byte*>(all.output) + begin * all.output_strides.row * bytes;
    require(kernels::rotary_cpu(part) == kernels::LaunchStatus::kOk, "rotary: the kernel refused its arguments");
  });
}

at::Tensor rotated_keys(const at::Tensor& keys, const at::Tensor& rotations, const RotaryScheme& scheme) {
  require(keys.dim() == 2 && keys.scalar_type() == at::kFloat && rotations.dim() == 2 && rotations.size(1) == keys.size(0),
          "rotated_keys: one rotation per fp32 key");
  require_turn(scheme);
  const RotaryEmbedding rotary(keys.size(1), scheme.turn_alone(), at::kFloat, keys.device());
  at::Tensor rotated = at::empty_like(keys).unsqueeze(1);
  apply_rotary(keys.unsqueeze(1), rotary.angles(rotations), rotated);
  return rotated.squeeze(1);
}

at::Tensor rotate_append(const at::Tensor& qkv, const RotaryAngles& angles, const KvShape& shape, const DeviceSlots& slots) {
  const std::int64_t heads = qkv.size(1) - 2 * shape.kv_heads;
  require(qkv.size(0) == 1 && qkv.is_contiguous() && heads > 0 && qkv.size(2) == shape.head_dim && qkv.scalar_type() == shape.dtype &&
              angles.cosine.scalar_type() == shape.dtype && angles.cosine.numel() == shape.head_dim / 2 &&
              angles.sine.numel() == shape.head_dim / 2 && angles.cosine.is_contiguous() && angles.sine.is_contiguous(),
          "a token's rows and the angles of its position, in the cache's type");
  at::Tensor queries = at::empty({heads, shape.head_dim}, qkv.options());
  kernels::CudaRotateAppendArgs args;
  args.type = element_type(shape.dtype);
  args.heads = heads;
  args.kv_heads = shape.kv_heads;
  args.half = shape.head_dim / 2;
  args.input = qkv.const_data_ptr();
  args.cosine = angles.cosine.const_data_ptr();
  args.sine = angles.sine.const_data_ptr();
  args.queries = queries.mutable_data_ptr();
  slots.pass_to(args);
  require_launched(cuda_plugin().rotate_append(&args), "rotary positions and the cache");
  return queries;
}

}  // namespace winnow
