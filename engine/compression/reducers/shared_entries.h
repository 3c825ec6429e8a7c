// Shared slots at an event (EMS, arXiv 2412.08521, section 4.2): which tokens share which kept slot, the slot's resulting contents, and the
// look-up tables.
//
// Used by compression_event.h and decode/shared_entry_merging.h. share_entries() and its like are pure functions on one KV head. Similarity
// of two tokens: cosine of keys times cosine of values. A slot holds the means of its tokens' key directions (not normalised again) and
// values, weighted by their global-local scores.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/index.h"
#include "engine/compression/segment_compressor.h"
#include "engine/kv_cache/kv_cache.h"
#include "engine/recipes/reducers/shared_entries.h"

namespace winnow {

// One event's result for the n rows of a segment.
struct SharedRows {
  std::vector<std::int32_t> row;  // of every token that lives on in the table, ascending; kept rows that are no centre are not among them
  std::vector<std::int32_t> target;  // index into `kept`, or SharedEntries::kZero
  std::vector<float> norm;           // length of the row's key
  at::Tensor directions;             // fp32 [centres, d]
  at::Tensor values;
};

// stored_keys, stored_values: [n, d], both fp32 or both as the cache stores them. kept: ascending rows. centres: indices into `kept`,
// ascending, of the slots that are shared; the others (the window of last rows, pinned rows) stay direct. rank: per row, which of the
// others come next (higher first, ties to the smaller row): as many as (magnification - 1) times the number of kept rows share a slot or
// are masked, the rest is dropped. weight: per row.
SharedRows share_rows(const SharingRule& rule, const at::Tensor& stored_keys, const at::Tensor& stored_values,
                      std::span<const std::int32_t> kept, std::span<const std::int32_t> centres, std::span<const float> rank,
                      std::span<const float> weight);

// Shared slots at an event: decides from the cache before compaction which tokens share, and writes the look-up tables after it.

// Per KV head.
struct SharedLayer {
  std::vector<SharedRows> rows;
  std::vector<std::vector<std::int32_t>> centres;  // indices into the plan's kept rows: all before the window but the pinned ones
};

// The kept slots before the window are shared with the next best tokens.
SharedLayer share_layer(const KvCache& cache, const SegmentCompressor& compressor, LayerId layer, const LayerPlan& plan);

// Returns counts as apply_plan() does.
std::vector<std::vector<std::int32_t>> write_shared(KvCache& cache, const SegmentCompressor& compressor, LayerId layer,
                                                    const LayerPlan& plan, const SharedLayer& shared);

}  // namespace winnow
