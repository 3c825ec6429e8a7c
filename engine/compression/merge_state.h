// State of merging across events and tokens. Belongs to a conversation and is copied with it.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/base/index.h"
#include "engine/kv_cache/kv_cache.h"

namespace winnow {

// A kept token and how many tokens events have merged into its slot.
struct MergedInto {
  std::int32_t original = 0;
  std::int32_t tokens = 0;

  friend bool operator==(const MergedInto&, const MergedInto&) = default;
};

struct MergeState {
  // The reducer's threshold per layer and KV head (Reducer::next_threshold); NaN before the first eviction. Empty: none yet.
  std::vector<double> thresholds;
  // Merges of events per layer and KV head, ascending by original index, without zeros. Later merges while decoding are not counted. Empty:
  // no event has merged anything.
  std::vector<std::vector<MergedInto>> merged;

  double& threshold(const KvShape& shape, LayerId layer, KvHead kv_head);
  std::vector<MergedInto>& merged_into(const KvShape& shape, LayerId layer, KvHead kv_head);
};

}  // namespace winnow
