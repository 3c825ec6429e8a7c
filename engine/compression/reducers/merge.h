// Merging: what an event does to the kept slots with the slots that leave. Pure functions on the keys and values of one kv head.
//
// Used by compression_event.h. keys, values: fp32 [n, d], all candidates as they were before the event; kept: ascending rows. Results are
// the keys and values of the kept rows, fp32 [kept, d], in the order of `kept`. Targets come from keys only; values follow them.
// LOOK-M arXiv 2406.18139 (average, pivot, weighted), D2O arXiv 2406.13035 equations 7-9 (gated), Elastic Cache arXiv 2407.18121 (nearest
// index), CaM ICML 2024 algorithm 1 (value push).
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <span>
#include <vector>

#include "engine/recipes/composition.h"

namespace winnow {

// For every row outside `kept` the kept row with the most similar key (ties: the smaller row). cos = dot / max(|a| |b|, 1e-12). Goes over
// the leaving rows in tiles: O(tile * kept) memory.
struct NearestKept {
  std::vector<std::int32_t> leaving;  // rows, ascending
  std::vector<std::int32_t> target;   // index into `kept`
  std::vector<float> cosine;

  double mean_cosine() const;  // 0 if nothing leaves
};
NearestKept nearest_by_cosine(const at::Tensor& keys, std::span<const std::int32_t> kept);
// By distance of token numbers (original: per row, ascending); only anchors (indices into `kept`) are targets; without anchors nobody has a
// target and all are dropped.
NearestKept nearest_by_index(std::span<const std::int32_t> original, std::span<const std::int32_t> kept,
                             std::span<const std::int32_t> anchors);

struct MergedSlots {
  at::Tensor keys;
  at::Tensor values;
  std::vector<std::int32_t> merged;  // per kept slot: how many slots were merged into it
};

// kAverage, kPivot, kWeighted, kGated (`threshold`: of the cosine) and kNearestIndex.
MergedSlots merge_into_targets(const Reduction& reduction, const at::Tensor& keys, const at::Tensor& values,
                               std::span<const std::int32_t> kept, const NearestKept& nearest, double threshold);

// kValuePush. attention: accumulated per row; original: token number per row. The leaving rows take turns, ascending: each is divided among
// the push_window rows that follow it, whether those stay or leave later, with what it was given itself.
struct PushContext {
  std::span<const float> attention;
  std::span<const std::int32_t> original;
  std::int64_t layer = 0;
  std::int64_t kv_head = 0;
};
MergedSlots push_values(const Reduction& reduction, const at::Tensor& keys, const at::Tensor& values, std::span<const std::int32_t> kept,
                        const PushContext& context);

// Probability (or, expected, the factor) with which a slot's value is pushed into the next ones: its accumulated attention over the mean of
// theirs (PushReference::kMean: `others` are the receivers) or over the largest of all that stay (kMaximum: `others` are all of them), in
// [0, 1]; 0/0 is 0, x/0 is 1.
double push_probability(const Reduction& reduction, float attention, std::span<const float> others);
// What is added to each receiver, as a factor of value / receivers: 0 or 1 by the draw, or the probability itself.
double push_factor(const Reduction& reduction, double probability, std::int64_t layer, std::int64_t kv_head, std::int32_t original);

}  // namespace winnow
