// What the rows of a probe pass think of slots that lie in the cache before them: of each slot the largest probability (methods: ST-probe,
// ST-probe-chunk, ST-probe+).
//
// KVzip, arXiv 2505.23416, Algorithm 1; with norms KVzip+, arXiv 2601.07891, section 3.1. Used by
// engine/generation/prefill/context_probe.h. fp32; extra memory: group * kStatisticsRowTile * judged slots floats. Deterministic.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>

#include "engine/layers/layer_view.h"

namespace winnow {

// Which of a head's past slots are judged, and what the rows' attention is shared among.
struct ProbedSlots {
  std::int64_t context = 0;  // the last so many past slots of every head are the context's, in token order
  std::int64_t first = 0;    // of these, the first that is judged
  std::int64_t count = 0;
  // Shared among the slots before the context, those that are judged and the probe's own rows; false: among everything the rows saw.
  bool among_judged = false;
  bool norms = false;  // weighed by norm(W_O v) of the slot over norm(x) of the row; the view has outputs then
};

// fp32 [kv_heads, count], on the view's device: the largest over rows and the query heads of a group.
at::Tensor probe_votes(const LayerView& view, const ProbedSlots& slots);

}  // namespace winnow
