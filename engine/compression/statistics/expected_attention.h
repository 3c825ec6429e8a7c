// How much attention a slot of the context may expect of queries that are still to come (methods-conversation: ST-qmom, K9, section 8).
//
// Expected Attention, Devoto et al., arXiv 2510.00636; code NVIDIA/kvpress expected_attention_press.py. Queries before their rotary turn
// are taken for normally distributed; mean mu_q and covariance Sigma_q (population) are those of the context's own rows. With R the mean
// rotary matrix of the next `horizon` positions, mu = R mu_q and Sigma = R Sigma_q R^T, a query head expects
//   z_j = scale mu.k_j + scale^2 / 2 k_j^T Sigma k_j,   a = softmax over the context of z,   and a kv head the mean of its group's a.
// Deviations: the softmax is over the context, where the code leaves out the first 4 slots of the cache: what comes before the media is
// the sink here and always stays. The turn is taken off the queries that attention saw.
// Used by LayerWatch. Segments without retained rows only. fp64 for heads of up to 64 numbers, else fp32; extra memory: one query head's
// rows. Errors: kIllegalRecipe where positions have several axes.
#pragma once

#include "engine/layers/layer_view.h"
#include "engine/recipes/segment_info.h"
#include "engine/recipes/statistics/layer_statistics.h"

namespace winnow {

HeadScores expected_attention(const LayerView& view, const SegmentInfo& segment, const ExpectedNeed& need);

}  // namespace winnow
