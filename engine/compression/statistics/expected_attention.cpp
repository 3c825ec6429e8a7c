#include "engine/compression/statistics/expected_attention.h"

#include <vector>

#include "engine/base/error.h"
#include "engine/compression/statistics/context_keys.h"
#include "engine/layers/rotary.h"

namespace winnow {
namespace {

constexpr std::int64_t kExactHead = 64;  // sums of products of smaller heads are cheap enough in fp64

// Mean over positions [first, first + count) of the matrix that rotates a head: [d, d].
at::Tensor mean_rotation(std::int64_t first, std::int64_t count, const RotaryScheme& scheme, const at::TensorOptions& options,
                         std::int64_t head_dim) {
  // The next tokens are text, whose position is the same on every axis.
  const at::Tensor positions = at::arange(first, first + count, options.dtype(at::kLong)).expand({scheme.axes(), count});
  const RotaryAngles angles = RotaryEmbedding(head_dim, scheme.turn_alone(), at::kFloat, positions.device()).angles(positions);
  const at::Tensor cosine = at::diag(angles.cosine.to(options).mean(0).flatten());
  const at::Tensor sine = at::diag(angles.sine.to(options).mean(0).flatten());
  return at::cat({at::cat({cosine, -sine}, 1), at::cat({sine, cosine}, 1)}, 0);
}

}  // namespace

void QueryMoments::add(const LayerView& view, std::int64_t first, std::int64_t count) {
  const std::int64_t heads = view.query.size(0);
  const std::int64_t head_dim = view.query.size(2);
  const at::TensorOptions options = view.query.options().dtype(head_dim <= kExactHead ? at::kDouble : at::kFloat);
  if (!mean_.defined()) {
    mean_ = at::zeros({heads, head_dim}, options);
    spread_ = at::zeros({heads, head_dim, head_dim}, options);
  }
  scale_ = view.scale;
  rotary_ = view.rotary;
  const at::Tensor back = view.positions.narrow(1, first, count).to(at::kFloat).neg();
  const auto added = static_cast<double>(count);
  const double share = added / static_cast<double>(rows_ + count);
  for (std::int64_t head = 0; head < heads; ++head) {
    at::Tensor queries = view.query.select(0, head).narrow(0, first, count).to(at::kFloat);
    if (rotary_.theta > 0.0) queries = rotated_keys(queries, back, rotary_);
    queries = queries.to(options);
    const at::Tensor mean = queries.mean(0);
    const at::Tensor about = queries - mean;
    const at::Tensor apart = mean - mean_[head];
    // Chan, Golub and LeVeque 1983: no difference of large sums.
    spread_[head].add_(at::mm(about.t(), about)).add_(at::outer(apart, apart), static_cast<double>(rows_) * share);
    mean_[head].add_(apart, share);
  }
  rows_ += count;
}

at::Tensor QueryMoments::expected_attention(std::span<const at::Tensor> keys, std::int64_t next, const ExpectedNeed& need) const {
  require(rows_ > 0 && !keys.empty(), "expected_attention: no queries were seen");
  const at::TensorOptions options = mean_.options();
  const std::int64_t group = mean_.size(0) / std::ssize(keys);
  const at::Tensor rotation = mean_rotation(next, need.horizon, rotary_, options, mean_.size(1));
  std::vector<at::Tensor> expected;
  for (std::int64_t kv = 0; kv < std::ssize(keys); ++kv) {
    const at::Tensor slots = keys[static_cast<std::size_t>(kv)].to(options);
    at::Tensor sum = at::zeros({slots.size(0)}, options);
    for (std::int64_t head = kv * group; head < (kv + 1) * group; ++head) {
      const at::Tensor linear = at::mv(slots, at::mv(rotation, mean_[head]));
      const at::Tensor covariance = spread_[head] / static_cast<double>(rows_);
      const at::Tensor quadratic = at::mm(slots, at::mm(at::mm(rotation, covariance), rotation.t())).mul_(slots).sum(1);
      sum.add_(at::softmax(linear * scale_ + quadratic * (scale_ * scale_ / 2.0), 0));
    }
    expected.push_back(sum.div_(static_cast<double>(group)));
  }
  return at::stack(expected);
}

HeadScores expected_attention(const LayerView& view, const SegmentInfo& segment, const ExpectedNeed& need) {
  require(segment.first_row == 0 && view.query.size(1) == segment.tokens && view.positions.size(1) == segment.tokens,
          "expected_attention: the view is not of this segment");
  const auto [first, count] = segment.context_rows();
  QueryMoments moments;
  moments.add(view, first, count);
  std::vector<at::Tensor> keys;
  for (std::int64_t kv = 0; kv < view.key.size(0); ++kv) keys.push_back(view.key.select(0, kv).narrow(0, first, count));
  return context_columns(moments.expected_attention(keys, view.positions.max().item<std::int64_t>() + 1, need), segment);
}

}  // namespace winnow
