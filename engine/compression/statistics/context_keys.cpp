#include "engine/compression/statistics/context_keys.h"

namespace winnow {
namespace {

constexpr double kLeastKeyNorm = 1e-12;  // a key of length 0 has no direction

at::Tensor context_of(const at::Tensor& tensor, const SegmentInfo& segment) {
  require(segment.first_row == 0 && tensor.size(1) == segment.tokens, "context_keys: the view is not of this segment");
  const auto [first, count] = segment.context_rows();
  return tensor.narrow(1, first, count).to(at::kFloat);
}

}  // namespace

at::Tensor key_directions(const at::Tensor& keys) {
  const at::Tensor exact = keys.to(at::kFloat);
  return exact / at::linalg_vector_norm(exact, 2, at::IntArrayRef{2}, true).clamp_min_(kLeastKeyNorm);
}

at::Tensor likeness_to_mean(const at::Tensor& directions) {
  const at::Tensor anchor = directions.mean(1, true);
  const at::Tensor length = at::linalg_vector_norm(anchor, 2, at::IntArrayRef{2}, true).clamp_min_(kLeastKeyNorm);
  return directions.mul(anchor / length).sum(2);
}

HeadScores key_likeness(const LayerView& view, const SegmentInfo& segment) {
  return context_columns(likeness_to_mean(key_directions(context_of(view.key, segment))), segment);
}

HeadScores value_norms(const LayerView& view, const SegmentInfo& segment) {
  return context_columns(at::linalg_vector_norm(context_of(view.value, segment), 2, at::IntArrayRef{2}), segment);
}

}  // namespace winnow
