#include "engine/kv_cache/head_move.h"

#include <algorithm>

namespace winnow {

std::optional<HeadMove> move_of(const CachedHead& head, std::int64_t candidates, const std::vector<std::int32_t>& kept) {
  if (std::ssize(kept) == candidates) return std::nullopt;
  HeadMove move;
  move.start = head.slots() - candidates;
  move.kept = kept;
  move.new_slots = move.start + std::ssize(kept);
  std::int64_t still = 0;
  while (still < std::ssize(kept) && kept[static_cast<std::size_t>(still)] == still) ++still;
  move.first_block = (move.start + still) / KvCache::kBlockSlots;
  return move;
}

void gather_in_runs(const CachedHead& head, const HeadMove& move) {
  constexpr std::int64_t kBlockSlots = KvCache::kBlockSlots;
  for (std::int64_t slot = move.first_slot(); slot < move.new_slots;) {
    // The longest run that is contiguous in the source and crosses no block border on either side.
    const std::int64_t from = move.source(slot);
    const std::int64_t limit = std::min({kBlockSlots - slot % kBlockSlots, kBlockSlots - from % kBlockSlots, move.new_slots - slot});
    std::int64_t run = 1;
    while (run < limit && move.source(slot + run) == from + run) ++run;
    move.fresh[static_cast<std::size_t>((slot - move.first_slot()) / kBlockSlots)]->copy_slots(
        slot % kBlockSlots, *head.blocks[static_cast<std::size_t>(from / kBlockSlots)], from % kBlockSlots, run);
    slot += run;
  }
}

}  // namespace winnow
