#include "engine/layers/gated_delta.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/base/error.h"
#include "engine/device/work_team.h"
#include "engine/layers/row_elements.h"
#include "engine/layers/short_conv.h"
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

constexpr std::int64_t kChunkTokens = 64;

// rows: [t, heads, d]. Returns [heads * times, n, c, d]: each head `times` times, tokens in n chunks, the last filled up with zeros.
at::Tensor delta_in_chunks(const at::Tensor& rows, std::int64_t times, std::int64_t chunk) {
  const std::int64_t filled = (rows.size(0) + chunk - 1) / chunk * chunk;
  const at::Tensor whole = at::constant_pad_nd(rows, {0, 0, 0, 0, 0, filled - rows.size(0)});
  const at::Tensor by_head = whole.transpose(0, 1).reshape({rows.size(1), filled / chunk, chunk, rows.size(2)});
  return times == 1 ? by_head : by_head.repeat_interleave(times, 0);
}

// A decode step has nothing to solve.
at::Tensor delta_of_one_token(const DeltaRows& rows, at::Tensor& memory) {
  const std::int64_t times = rows.value.size(1) / rows.key.size(1);
  const auto by_head = [&](const at::Tensor& row) { return row.transpose(0, 1).repeat_interleave(times, 0); };  // [H, 1, key_dim]
  const at::Tensor key = by_head(rows.key);
  memory.mul_(rows.decay.exp().view({-1, 1, 1}));
  const at::Tensor fresh = (rows.value.transpose(0, 1) - at::matmul(key, memory)).mul_(rows.beta.view({-1, 1, 1}));
  memory.baddbmm_(key.transpose(1, 2), fresh);
  return at::matmul(by_head(rows.query), memory).transpose(0, 1).contiguous();
}

}  // namespace

// channels: [t, channels]. Returns them behind the convolution and SiLU, fp32.
at::Tensor GatedDelta::convolved(const at::Tensor& channels, at::Tensor& recent) const {
  at::Tensor rounded = causal_convolution(channels, convolution, recent).to(channels.scalar_type());
  return at::silu_(rounded).to(at::kFloat);
}

at::Tensor GatedDelta::operator()(const at::Tensor& rows, LayerState& state) const {
  return output(gated(input(rows), rates(rows), state));
}

at::Tensor GatedDelta::operator()(const at::Tensor& rows, const std::function<LayerState&(std::int64_t row)>& state_of) const {
  const at::Tensor products = input(rows);
  const at::Tensor rate = rates(rows);
  std::vector<at::Tensor> each;
  for (std::int64_t row = 0; row < rows.size(0); ++row)
    each.push_back(gated(products.narrow(0, row, 1), rate.narrow(0, row, 1), state_of(row)));
  return output(at::cat(each));
}

at::Tensor GatedDelta::gated(const at::Tensor& products, const at::Tensor& rate, LayerState& state) const {
  const std::int64_t tokens = products.size(0);
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
  if (!products.is_cpu() && sizes.in_turn) {  // products of matrices take consecutive value heads to a key head
    const std::int64_t times = sizes.value_heads / sizes.key_heads;
    delta.query = delta.query.repeat({1, times, 1});
    delta.key = delta.key.repeat({1, times, 1});
  }
  const at::Tensor read = products.is_cpu() ? delta_by_kernel(delta, sizes, state.memory) : delta_by_chunks(delta, state.memory);

  const at::Tensor normalised = norm(read.to(products.scalar_type())).view({tokens, sizes.values()});
  const at::Tensor gate = at::silu(products.narrow(1, sizes.channels(), sizes.values()).to(at::kFloat));
  return (normalised * gate).to(products.scalar_type());
}

at::Tensor delta_by_chunks(const DeltaRows& rows, at::Tensor& memory) {
  const std::int64_t tokens = rows.value.size(0);
  if (tokens == 1) return delta_of_one_token(rows, memory);
  const std::int64_t value_heads = rows.value.size(1);
  const std::int64_t times = value_heads / rows.key.size(1);
  const std::int64_t chunk = std::min(kChunkTokens, tokens);
  at::Tensor query = delta_in_chunks(rows.query, times, chunk);
  at::Tensor key = delta_in_chunks(rows.key, times, chunk);
  const at::Tensor beta = delta_in_chunks(rows.beta.unsqueeze(2), 1, chunk);
  const at::Tensor value = delta_in_chunks(rows.value, 1, chunk) * beta;
  const at::Tensor decayed = delta_in_chunks(rows.decay.unsqueeze(2), 1, chunk).cumsum(2);  // [H, n, c, 1], since the chunk began

  // Between two tokens of a chunk, the later one's row; -inf keeps what comes later from overflowing.
  const at::Tensor later = at::ones({chunk, chunk}, at::TensorOptions(memory.device()).dtype(at::kBool)).triu(1);
  const at::Tensor between = (decayed - decayed.transpose(2, 3)).masked_fill(later, -INFINITY).exp();
  const at::Tensor corrected = key * beta;
  const at::Tensor system = at::matmul(corrected, key.transpose(2, 3)) * between;
  const at::Tensor within = at::matmul(query, key.transpose(2, 3)) * between;
  const auto solved = [&](const at::Tensor& right) { return at::linalg_solve_triangular(system, right, false, true, true); };
  const at::Tensor values = solved(value);
  const at::Tensor known = solved(corrected * decayed.exp());
  query = query * decayed.exp();
  const at::Tensor end = decayed.narrow(2, chunk - 1, 1);
  key = key * (end - decayed).exp();

  at::Tensor output = at::empty({value_heads, values.size(1), chunk, rows.value.size(2)}, rows.value.options());
  for (std::int64_t i = 0; i < values.size(1); ++i) {
    const at::Tensor fresh = values.select(1, i) - at::matmul(known.select(1, i), memory);
    output.select(1, i).copy_(at::matmul(query.select(1, i), memory) + at::matmul(within.select(1, i), fresh));
    memory.mul_(end.select(1, i).exp()).add_(at::matmul(key.select(1, i).transpose(1, 2), fresh));
  }
  return output.view({value_heads, -1, rows.value.size(2)}).narrow(1, 0, tokens).transpose(0, 1).contiguous();
}

}  // namespace winnow
