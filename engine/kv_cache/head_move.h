// The slots of a head that compaction keeps, and the new blocks that receive it.
//
// Used inside engine/kv_cache. Leading slots that do not move keep their blocks (and stay shared with forks). Engine thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/kv_cache/cached_head.h"
#include "engine/kv_cache/kv_block.h"
#include "engine/kv_cache/kv_cache.h"

namespace winnow {

struct HeadMove {
  std::int64_t start = 0;  // slots before the candidates
  std::span<const std::int32_t> kept;
  std::int64_t new_slots = 0;
  std::int64_t first_block = 0;                 // the first one that is replaced
  std::vector<std::shared_ptr<KvBlock>> fresh;  // that replace it and those behind it

  std::int64_t blocks() const { return KvCache::blocks_for(new_slots) - first_block; }  // size of `fresh`
  std::int64_t first_slot() const { return first_block * KvCache::kBlockSlots; }
  std::int64_t source(std::int64_t slot) const { return slot < start ? slot : start + kept[static_cast<std::size_t>(slot - start)]; }
};

// nullopt if all slots stay. kept: of the last `candidates` slots, ascending; must outlive the move. `fresh` is left empty.
std::optional<HeadMove> move_of(const CachedHead& head, std::int64_t candidates, const std::vector<std::int32_t>& kept);

// On the CPU: copies the head's slots into the fresh blocks, run by run.
void gather_in_runs(const CachedHead& head, const HeadMove& move);

}  // namespace winnow
