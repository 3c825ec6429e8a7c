// Counts a cache for people: budgets, slots kept by modality, bytes. Reads the cache, changes nothing. Used by SegmentCompression and
// AnswerLoop.
#pragma once

#include <span>
#include <vector>

#include "engine/compression/compression_event.h"
#include "engine/generation/conversation/conversation.h"
#include "engine/kv_cache/kv_cache.h"
#include "engine/messages/events.h"

namespace winnow {

// budgets: slots granted per layer for the newest segment; empty where no event took place.
std::vector<LayerFigures> layer_figures(const KvCache& cache, std::span<const TokenOrigin> origins, std::span<const std::int64_t> budgets);

// Slots in use per layer; tokens from first_generated on are the answer's, those of images are counted apart, too. O(slots).
std::vector<SlotCounts> slot_counts(const Conversation& conversation, std::int32_t first_generated);
// Adds what each layer gained since, where nothing leaves while decoding: all of it is the answer's. O(layers * kv heads).
void add_growth(const KvCache& cache, std::vector<SlotCounts>& counts);

// kept[layer][kv head]: original indices in ascending order.
std::vector<std::vector<std::vector<std::int32_t>>> kept_original(const KvCache& cache);

// What events merged into these tokens, in the shape of `kept` (kept_original()); empty if no event has merged anything. Tokens that left
// since are not met. O(kept).
std::vector<std::vector<std::vector<std::int32_t>>> merged_counts(const MergeState& state,
                                                                  const std::vector<std::vector<std::vector<std::int32_t>>>& kept);

}  // namespace winnow
