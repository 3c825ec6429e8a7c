// Counts a cache for people: budgets, slots kept by modality, bytes. Reads the cache, changes nothing. Used by TurnRunner.
#pragma once

#include <span>
#include <vector>

#include "engine/api/events.h"
#include "engine/kv_cache/kv_cache.h"

namespace winnow {

// budgets: slots granted per layer for the newest segment; empty where no event took place.
std::vector<LayerFigures> layer_figures(const KvCache& cache, std::span<const TokenOrigin> origins, std::span<const std::int64_t> budgets);

// kept[layer][kv head]: original indices in ascending order.
std::vector<std::vector<std::vector<std::int32_t>>> kept_original(const KvCache& cache);

}  // namespace winnow
