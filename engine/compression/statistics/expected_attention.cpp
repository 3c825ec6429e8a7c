#include "engine/compression/statistics/expected_attention.h"

#include <vector>

#include "engine/base/error.h"
#include "engine/compression/statistics/context_columns.h"
#include "engine/layers/rotary.h"

namespace winnow {
namespace {

constexpr std::int64_t kExactHead = 64;  // sums of products of smaller heads are cheap enough in fp64

// Mean over positions [first, first + count) of the matrix that turns a head: [d, d].
at::Tensor mean_turn(std::int64_t first, std::int64_t count, double base, const at::TensorOptions& options, std::int64_t head_dim) {
  const at::Tensor positions = at::arange(first, first + count, options.dtype(at::kLong));
  const RotaryAngles angles = RotaryEmbedding(head_dim, base, at::kFloat, positions.device()).angles(positions);
  const at::Tensor cosine = at::diag(angles.cosine.to(options).mean(0).flatten());
  const at::Tensor sine = at::diag(angles.sine.to(options).mean(0).flatten());
  return at::cat({at::cat({cosine, -sine}, 1), at::cat({sine, cosine}, 1)}, 0);
}

}  // namespace

HeadScores expected_attention(const LayerView& view, const SegmentInfo& segment, const ExpectedNeed& need) {
  require(segment.first_row == 0 && view.query.size(1) == segment.tokens && view.positions.numel() == segment.tokens,
          "expected_attention: the view is not of this segment");
  const auto [first, count] = segment.context_rows();
  const std::int64_t kv_heads = view.key.size(0);
  const std::int64_t group = view.query.size(0) / kv_heads;
  const std::int64_t head_dim = view.query.size(2);
  const at::TensorOptions options = view.query.options().dtype(head_dim <= kExactHead ? at::kDouble : at::kFloat);
  const at::Tensor back = view.positions.narrow(0, first, count).to(at::kFloat).neg();
  const std::int64_t next = view.positions.max().item<std::int64_t>() + 1;
  at::Tensor turn;  // made after turned_keys() has refused models with several axes

  std::vector<at::Tensor> expected;
  for (std::int64_t kv = 0; kv < kv_heads; ++kv) {
    const at::Tensor keys = view.key.select(0, kv).narrow(0, first, count).to(options);
    at::Tensor sum = at::zeros({count}, options);
    for (std::int64_t head = kv * group; head < (kv + 1) * group; ++head) {
      const at::Tensor queries =
          turned_keys(view.query.select(0, head).narrow(0, first, count).to(at::kFloat), back, view.rope_theta).to(options);
      if (!turn.defined()) turn = mean_turn(next, need.horizon, view.rope_theta, options, head_dim);
      const at::Tensor mean = queries.mean(0);
      const at::Tensor spread = queries - mean;
      const at::Tensor covariance = at::mm(spread.t(), spread).div_(static_cast<double>(count));
      const at::Tensor linear = at::mv(keys, at::mv(turn, mean));
      const at::Tensor quadratic = at::mm(keys, at::mm(at::mm(turn, covariance), turn.t())).mul_(keys).sum(1);
      sum.add_(at::softmax(linear * view.scale + quadratic * (view.scale * view.scale / 2.0), 0));
    }
    expected.push_back(sum.div_(static_cast<double>(group)));
  }
  return context_columns(at::stack(expected), segment);
}

}  // namespace winnow
