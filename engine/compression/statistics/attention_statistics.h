// Attention statistics of one layer without an n x n matrix: logits are recomputed in tiles from Q, K and the attention's log-sum-exp, by
// our own kernels where they fit (column_totals.h), else by libtorch's operators.
//
// Used by SegmentCompressor. Column sums: c_j = sum over rows i that see j (i >= j, or both in one span of view.together) of exp(s(i, j) -
// LSE_i), per query head, then combined per group; squares are of the group's mean probability. Sparsity: share of segment entries that are
// seen with s(i, j) < rowmax_i + ln p. Slots of earlier turns have separate sums (past_sums); sparsity and variance skip them unless they
// are rows of an extended segment. fp32; every column is summed over row tiles in ascending order, so results are deterministic. Extra
// memory: H * 64 * 512 floats per libtorch tile and H * n for the sums. Tensors stay on the view's device until the end.
#pragma once

#include <span>
#include <vector>

#include "engine/layers/layer_view.h"
#include "engine/recipes/segment_info.h"
#include "engine/recipes/statistics/layer_statistics.h"

namespace winnow {

inline constexpr std::int64_t kStatisticsRowTile = 64;
inline constexpr std::int64_t kStatisticsKeyTile = 512;

// sum over rows i of weights[i] * (mean over all query heads of the probability of segment key j at row i), per j. weights: one per row.
std::vector<double> weighted_columns(const LayerView& view, std::span<const double> weights);

// The sums that attention can accumulate as it runs (LayerView::received): sums of all rows, but not entropies and counts.
ReceivedNeed received_need(const StatisticsNeed& need);

// Uses what view.received has and computes the rest.
RowStatistics attention_statistics(const LayerView& view, const SegmentInfo& segment, const StatisticsNeed& need);

}  // namespace winnow
