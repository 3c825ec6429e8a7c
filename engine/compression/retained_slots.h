// Slots of earlier turns as candidates of an event over the whole cache (turn policy whole: candidates are all current slots).
//
// Made before the prefill of such a turn by take_retained(), borrowed by SegmentInfo and SegmentCompressor. Per head the slots' original
// indices, ascending, and the attention that the last answer's decode policy accumulated for each; the new segment's rows are added to it.
// In a layer with a window, slots outside it after the segment are left out. Engine thread only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/index.h"
#include "engine/base/token_origin.h"
#include "engine/kv_cache/kv_cache.h"

namespace winnow {

class DecodePolicy;

struct RetainedHead {
  std::vector<std::int32_t> original;
  std::vector<Modality> modality;
  // Group-mean attention from all rows so far, its squares, the same from the last rows, and the row count. Empty if not accumulated.
  std::vector<float> sums;
  std::vector<float> squares;
  std::vector<float> local;
  std::vector<std::int32_t> rows;
};

struct RetainedSlots {
  std::int64_t kv_heads = 0;
  std::vector<RetainedHead> heads{};  // [layers * kv_heads]
  std::int64_t tokens_seen = 0;       // of the conversation, the new segment and evicted tokens included
  std::int64_t visual_seen = 0;

  const RetainedHead& at(LayerId layer, KvHead kv_head) const { return heads.at(static_cast<std::size_t>(layer * kv_heads + kv_head)); }
};

// Sorts every head's slots by token. Shared slots (EMS) become one slot per live token, with the key and value that attention uses.
// origins: of all tokens, the new segment's included. policy (may be null): of the last answer; it no longer fits the cache afterwards.
RetainedSlots take_retained(KvCache& cache, std::span<const TokenOrigin> origins, const DecodePolicy* policy);

}  // namespace winnow
