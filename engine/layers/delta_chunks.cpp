#include "engine/layers/delta_chunks.h"

#include <algorithm>
#include <cmath>

namespace winnow {
namespace {

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
