// Expected attention of a context slot from future queries (methods-conversation: ST-qmom, K9, section 8).
//
// Expected Attention, Devoto et al., arXiv 2510.00636; code NVIDIA/kvpress expected_attention_press.py. Unrotated queries are assumed
// normally distributed, with mean mu_q and covariance Sigma_q (population) of rows that were read: the context's own, or text rows. With R
// the mean rotary matrix of the next `horizon` positions, mu = R mu_q and Sigma = R Sigma_q R^T, a query head expects
//   z_j = scale mu.k_j + scale^2 / 2 k_j^T Sigma k_j,   a = softmax over the context of z,   and a KV head the mean of its group's a.
// Deviations: the softmax is over the context, while the code skips the first 4 slots of the cache; here the tokens before the media are
// the sink and always stay. Queries are rotated back from those that attention used. Used by LayerWatch (segments without retained rows
// only) and the probe pass. fp64 for heads of up to 64 elements, else fp32; extra memory: one query head's rows and a matrix [d, d] a query
// head. Errors: kIllegalRecipe where positions have several axes.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <span>

#include "engine/layers/layer_view.h"
#include "engine/recipes/segment_info.h"
#include "engine/recipes/statistics/layer_statistics.h"

namespace winnow {

// Moments of a layer's unrotated queries, per query head. Rows of several passes add up.
class QueryMoments {
 public:
  // Rows [first, first + count) of the view.
  void add(const LayerView& view, std::int64_t first, std::int64_t count);

  // a of every slot: [kv_heads, slots]. keys: per KV head [slots, d], after rotary. next: the position from which queries are expected.
  at::Tensor expected_attention(std::span<const at::Tensor> keys, std::int64_t next, const ExpectedNeed& need) const;

 private:
  std::int64_t rows_ = 0;
  at::Tensor mean_;    // [H, d]
  at::Tensor spread_;  // [H, d, d]: sum over rows of the outer products of their deviations from the mean
  double scale_ = 1.0;
  RotaryScheme rotary_;
};

HeadScores expected_attention(const LayerView& view, const SegmentInfo& segment, const ExpectedNeed& need);

}  // namespace winnow
