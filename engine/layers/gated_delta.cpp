#include "engine/layers/gated_delta.h"

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "engine/device/work_team.h"
#include "engine/layers/causal_convolution.h"
#include "engine/layers/delta_chunks.h"
#include "engine/layers/row_elements.h"
#include "kernels/api/gated_delta.h"

namespace winnow {
namespace {

constexpr double kLengthEpsilon = 1e-6;
constexpr std::int64_t kColumnsAtOnce = 16;  // of a head, for one thread

// Each head's elements, the last dimension, at length 1.
at::Tensor at_length_one(const at::Tensor& heads) { return heads * (heads.square().sum(-1, /*keepdim=*/true) + kLengthEpsilon).rsqrt(); }

at::Tensor delta_by_kernel(const DeltaRows& rows, const DeltaSizes& sizes, at::Tensor& memory) {
  at::Tensor output = at::empty(rows.value.sizes(), rows.value.options());
  const at::Tensor kept = rows.decay.exp();
  kernels::GatedDeltaArgs all;
  all.tokens = rows.value.size(0);
  all.key_heads = rows.key.size(1);
  all.value_heads = rows.value.size(1);
  all.key_dim = rows.key.size(2);
  all.value_dim = rows.value.size(2);
  all.query = rows.query.const_data_ptr<float>();
  all.key = rows.key.const_data_ptr<float>();
  all.value = rows.value.const_data_ptr<float>();
  all.decay = kept.const_data_ptr<float>();
  all.beta = rows.beta.const_data_ptr<float>();
  all.state = memory.mutable_data_ptr<float>();
  all.output = output.mutable_data_ptr<float>();
  const std::int64_t pieces = (all.value_dim + kColumnsAtOnce - 1) / kColumnsAtOnce;
  const std::int64_t numbers = std::max<std::int64_t>(1, all.tokens * all.key_dim * kColumnsAtOnce);
  share_work(all.value_heads * pieces, std::max<std::int64_t>(1, kGrainNumbers / numbers), [&](std::int64_t begin, std::int64_t end) {
    kernels::GatedDeltaArgs part = all;
    for (std::int64_t piece = begin; piece < end; ++piece) {
      part.head = piece / pieces;
      part.key_head = sizes.key_head(part.head);
      part.first_column = piece % pieces * kColumnsAtOnce;
      part.columns = std::min(kColumnsAtOnce, all.value_dim - part.first_column);
      require(kernels::gated_delta_cpu(part) == kernels::LaunchStatus::kOk, "gated delta: the kernel refused its arguments");
    }
  });
  return output;
}

}  // namespace

// channels: [t, channels]. Returns them behind the convolution and SiLU, fp32.
at::Tensor GatedDelta::convolved(const at::Tensor& channels, at::Tensor& recent) const {
  at::Tensor rounded = causal_convolution(channels, convolution, recent).to(channels.scalar_type());
  return at::silu_(rounded).to(at::kFloat);
}

at::Tensor GatedDelta::operator()(const at::Tensor& rows, LayerState& state) const {
  const std::int64_t tokens = rows.size(0);
  const at::Tensor products = input(rows);
  const at::Tensor rate = rates(rows);
  const at::Tensor mixed = convolved(products.narrow(1, 0, sizes.channels()), state.recent);
  const auto heads_of = [&](std::int64_t first, std::int64_t heads, std::int64_t dim) {
    return mixed.narrow(1, first, heads * dim).view({tokens, heads, dim});
  };
  DeltaRows delta;
  delta.query = at_length_one(heads_of(0, sizes.key_heads, sizes.key_dim)).mul_(1.0 / std::sqrt(static_cast<double>(sizes.key_dim)));
  delta.key = at_length_one(heads_of(sizes.keys(), sizes.key_heads, sizes.key_dim));
  delta.value = heads_of(2 * sizes.keys(), sizes.value_heads, sizes.value_dim).contiguous();
  delta.beta = rate.narrow(1, 0, sizes.value_heads).sigmoid().to(at::kFloat).contiguous();
  delta.decay = at::softplus(rate.narrow(1, sizes.value_heads, sizes.value_heads).to(at::kFloat) + decay_offset).mul_(decay);
  if (!rows.is_cpu() && sizes.in_turn) {  // products of matrices take consecutive value heads to a key head
    const std::int64_t times = sizes.value_heads / sizes.key_heads;
    delta.query = delta.query.repeat({1, times, 1});
    delta.key = delta.key.repeat({1, times, 1});
  }
  const at::Tensor read = rows.is_cpu() ? delta_by_kernel(delta, sizes, state.memory) : delta_by_chunks(delta, state.memory);

  const at::Tensor normalised = norm(read.to(rows.scalar_type())).view({tokens, sizes.values()});
  const at::Tensor gate = at::silu(products.narrow(1, sizes.channels(), sizes.values()).to(at::kFloat));
  return output((normalised * gate).to(rows.scalar_type()));
}

}  // namespace winnow
