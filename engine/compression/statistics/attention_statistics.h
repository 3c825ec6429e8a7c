// Attention statistics of one layer without an n x n matrix: logits are recomputed in tiles from Q, K and the attention's log-sum-exp, by
// kernels of our own where they fit (column_totals.h, row_sparsity.h), else by libtorch's operators.
//
// Used by SegmentCompressor. Column sums: c_j = sum over rows i that see j (i >= j, or both in one of view.together) of exp(s(i, j) -
// LSE_i), per query head, then joined per group; squares are of the group's mean probability. Sparsity: share of allowed segment entries
// (those that are seen) with s(i, j) < rowmax_i + ln p. Slots of earlier turns have sums of their own (past_sums); they are no columns of
// sparsity and variance, unless they are rows of an extended segment. fp32; every column's sum is taken over row tiles in ascending order,
// so results are deterministic. Extra memory: H * 64 * 512 floats per tile of libtorch's and H * n for the sums. Tensors stay on the view's
// device until the end.
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

// What of it attention may count on its way (LayerView::received): sums of all rows, not entropies and counts.
ReceivedNeed received_need(const StatisticsNeed& need);

// Takes from view.received what is there and computes the rest.
RowStatistics attention_statistics(const LayerView& view, const SegmentInfo& segment, const StatisticsNeed& need);

}  // namespace winnow
