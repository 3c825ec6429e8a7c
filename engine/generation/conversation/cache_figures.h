// Figures of a cache: budgets, slots kept by modality, bytes. Does not modify it. Used by SegmentCompression and AnswerLoop.
#pragma once

#include <span>
#include <vector>

#include "engine/compression/compression_event.h"
#include "engine/generation/conversation/conversation.h"
#include "engine/kv_cache/kv_cache.h"
#include "engine/messages/events.h"

namespace winnow {

// budgets: slots granted per layer for the newest segment; empty without an event.
std::vector<LayerFigures> layer_figures(const KvCache& cache, std::span<const TokenOrigin> origins, std::span<const std::int64_t> budgets);

// Slots in use per layer, answer tokens (from first_generated on) and image tokens also counted separately. O(slots).
std::vector<SlotCounts> slot_counts(const Conversation& conversation, std::int32_t first_generated);
// Adds the slots that each layer has gained since, all of them answer tokens. For decoding without eviction. O(layers * kv heads).
void add_growth(const KvCache& cache, std::vector<SlotCounts>& counts);

// kept[layer][kv head]: original indices in ascending order.
std::vector<std::vector<std::vector<std::int32_t>>> kept_original(const KvCache& cache);

// How many tokens events merged into each of these, in the shape of `kept` (kept_original()); empty without merges. Tokens evicted since
// are not counted. O(kept).
std::vector<std::vector<std::vector<std::int32_t>>> merged_counts(const MergeState& state,
                                                                  const std::vector<std::vector<std::vector<std::int32_t>>>& kept);

// Bounds that make a report's lists fit into a message (wire.h): beyond them, which slots were kept and merged is left out as a whole,
// texts from there on.
struct ListBounds {
  std::size_t slots = std::size_t{64} << 20;
  std::size_t texts = 500'000;
};
void bound_lists(CacheReport& report, const ListBounds& bounds = {});

}  // namespace winnow
