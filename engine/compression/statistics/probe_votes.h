// Votes of a probe pass's rows for cached slots: each slot's largest probability (methods: ST-probe, ST-probe-chunk, ST-probe+), or every
// row's attention.
//
// KVzip, arXiv 2505.23416, Algorithm 1; with norms KVzip+, arXiv 2601.07891, section 3.1. Used by
// engine/generation/reading/context_probe.h. fp32; extra memory: group * kStatisticsRowTile * scored slots floats. Deterministic.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>

#include "engine/base/index.h"
#include "engine/layers/layer_view.h"

namespace winnow {

// The slots in a probe row's softmax.
enum class ProbeSharing : int {
  kEverything = 1,    // all that the rows see
  kBesideJudged = 2,  // slots before the context, scored slots and the probe's own rows
  kJudgedAlone = 3,   // the scored slots only
  kBesideRead = 4,    // the scored slots, and whatever the view's log-sum-exp is over
};

// Which of a head's past slots are scored, and how.
struct ProbedSlots {
  std::int64_t context = 0;  // the last `context` past slots of every head are the context's, in token order
  std::int64_t first = 0;    // of these, the first that is scored
  std::int64_t count = 0;
  ProbeSharing sharing = ProbeSharing::kEverything;
  bool norms = false;  // weighted by norm(W_O v) of the slot over norm(x) of the row; needs the view's outputs
  bool mean = false;   // over rows and group, instead of the largest
};

// fp32 [kv_heads, count], on the view's device: the largest over rows and the query heads of a group.
at::Tensor probe_votes(const LayerView& view, const ProbedSlots& slots);

// The same for one head, [count]; heads may hold different counts of context slots.
at::Tensor head_votes(const LayerView& view, KvHead head, const ProbedSlots& slots);

// Votes of a context for itself from the prefill that reads it: its rows as if they came once more, behind it.
//
// A row's query, unrotated from where it was read, is rotated to `further` positions later; it sees the whole context, and what it saw when
// it was read stands for the rows before it. So a repetition (KVzip) is judged without a second pass; what the rows would have learnt from
// the context on their way up is missing. Close to it: non-causal attention of queries and keys (Compactor, arXiv 2507.08143).
struct RowsAsRead {
  std::int64_t first = 0;  // of the view's rows, the context's
  std::int64_t count = 0;
  std::int64_t further = 0;  // positions from the context to what follows it
  bool norms = false;        // as ProbedSlots'
};

// fp32 [kv_heads, slots]: of the context's last slots that the layer still holds for the row after it; without a window all.
at::Tensor votes_as_read(const LayerView& view, const RowsAsRead& rows);

// Attention of every row of a pass to the last slots of the cache before it, averaged over all heads of a layer.
//
// Deterministic.

// fp32 [rows, slots], on the view's device: the mean over query heads of the probability of each of the last `slots` past slots.
at::Tensor row_attention(const LayerView& view, std::int64_t slots);

}  // namespace winnow
