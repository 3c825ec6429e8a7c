// What the rows of a probe pass think of slots that lie in the cache before them: of each slot the largest probability (methods: ST-probe,
// ST-probe-chunk, ST-probe+).
//
// KVzip, arXiv 2505.23416, Algorithm 1; with norms KVzip+, arXiv 2601.07891, section 3.1. Used by
// engine/generation/reading/context_probe.h. fp32; extra memory: group * kStatisticsRowTile * judged slots floats. Deterministic.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>

#include "engine/base/index.h"
#include "engine/layers/layer_view.h"

namespace winnow {

// What the attention of a probe's rows is shared among.
enum class ProbeSharing : int {
  kEverything = 1,    // all that the rows saw
  kBesideJudged = 2,  // the slots before the context, those that are judged and the probe's own rows
  kJudgedAlone = 3,   // the judged slots
};

// Which of a head's past slots are judged, and how.
struct ProbedSlots {
  std::int64_t context = 0;  // the last so many past slots of every head are the context's, in token order
  std::int64_t first = 0;    // of these, the first that is judged
  std::int64_t count = 0;
  ProbeSharing sharing = ProbeSharing::kEverything;
  bool norms = false;  // weighed by norm(W_O v) of the slot over norm(x) of the row; the view has outputs then
  bool mean = false;   // over rows and group, in place of the largest
};

// fp32 [kv_heads, count], on the view's device: the largest over rows and the query heads of a group.
at::Tensor probe_votes(const LayerView& view, const ProbedSlots& slots);

// The same of one head, [count]; heads may hold different numbers of the context's slots.
at::Tensor head_votes(const LayerView& view, KvHead head, const ProbedSlots& slots);

}  // namespace winnow
