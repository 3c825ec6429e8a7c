// Applies one layer's plan to the cache: merges what the recipe merges, keeps what the plan keeps, frees the rest.
//
// Used by engine/generation. The plan and the similarity thresholds come from engine/compression, the memory is moved by KvCache.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/compression/segment_compressor.h"
#include "engine/kv_cache/kv_cache.h"

namespace winnow {

// A kept token and how many others events have merged into its slot.
struct MergedInto {
  std::int32_t original = 0;
  std::int32_t tokens = 0;

  friend bool operator==(const MergedInto&, const MergedInto&) = default;
};

// What merging remembers from event to event and from token to token; belongs to a conversation and is copied with it.
struct MergeState {
  // Moving mean of cosines per layer and kv head (D2O's tau); NaN as long as nothing was evicted. Empty: none yet.
  std::vector<double> thresholds;
  // Per layer and kv head, ascending by original index, without zeros: what events merged. What decode-phase methods merge later is not
  // counted. Empty: no event has merged anything.
  std::vector<std::vector<MergedInto>> merged;

  double& threshold(const KvShape& shape, std::int64_t layer, std::int64_t kv_head);
  std::vector<MergedInto>& merged_into(const KvShape& shape, std::int64_t layer, std::int64_t kv_head);
};

// The moving mean with one more event's mean cosine: the first one as it is.
double next_threshold(double previous, double mean_cosine, double weight_of_current);

// The layer's segment must be the last slots of the cache, all of them. Returns per kv head and kept slot of the segment how many slots
// were merged into it; empty where nothing merges. `state` remembers the counts for later reports.
std::vector<std::vector<std::int32_t>> apply_plan(KvCache& cache, const SegmentCompressor& compressor, std::int64_t layer,
                                                  MergeState& state);

}  // namespace winnow
