// What every view tells of a cache: the share that is left of what is attached, whose bytes are whose, and what it takes in memory.
//
// The one definition for chips, panel, columns, lines and the terminal. Plain functions of figures; threads: any.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/metrics/figures.h"

namespace winnow {

// What each layer holds: as counted last, or, of an answer that has just begun, as the event left it.
std::vector<SlotCounts> slots_of(std::span<const LayerFigures> layers);

// Of what is attached, or, where nothing is, of the text: the slots that are left, mean over layers. 1 where there was nothing to drop.
double kept_share(std::span<const SlotCounts> layers, const TokenCounts& tokens);
double kept_share(const TurnFigures& figures);
// Of all that was read, text and attachments together. What most methods are asked for is a share of this.
double kept_of_all(std::span<const SlotCounts> layers, const TokenCounts& tokens);

// In use now: of the prompt with all that was said before, and of the answer.
struct HeldBytes {
  std::int64_t prompt = 0;
  std::int64_t answer = 0;
};
HeldBytes held_bytes(const KvBytes& kv, std::span<const SlotCounts> layers);
HeldBytes held_bytes(const TurnFigures& figures);

// What the cache takes in memory: blocks of K and V, and the states of layers without slots.
std::int64_t memory_bytes(const KvBytes& kv);

}  // namespace winnow
