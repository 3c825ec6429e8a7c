// Attention of the instruction's most attended ("elite") tokens to the visual tokens in one layer.
//
// AirCache, Huang et al., ICCV 2025, arXiv 2503.23956, equations 4-8 (their text is known from the prose and public summaries).
//   T_I = text rows after the last visual token, e = the last of them.
//   Per query head: a[j] = softmax over j in T_I of scale * q_e . k_j;  elite T_E = { j : a[j] >= alpha * max a }, or (Rule::kShare) the
//   ceil((1 - alpha) |T_I|) largest, at least one (ties: the smaller row). Heads::kMean: one set, from the mean of a over heads.
//   For i in T_E: softmax over V and { j in T_E : j <= i };  I[v] = mean over the head's T_E of the probability of v, then over heads.
//   strength = sum of I; skew = adjusted sample skewness of I, 0 for fewer than three visual tokens or no spread.
// Without text after the images T_I is the last min(32, n) text rows; without text at all I is uniform. Memory O(heads * keys).
#pragma once

#include "engine/layers/layer_view.h"
#include "engine/recipes/segment_info.h"
#include "engine/recipes/statistics/layer_statistics.h"

namespace winnow {

EliteAttention elite_attention(const LayerView& view, const SegmentInfo& segment, const EliteNeed& need);

}  // namespace winnow
