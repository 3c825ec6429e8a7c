// The figures that every view shows of a cache: the share that is left of what is attached, whose bytes are whose, and what it takes in
// memory.
//
// The one definition for chips, panel, columns, lines and the terminal. Plain functions of figures; threads: any.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/metrics/figures.h"

namespace winnow {

// The slots that each layer holds: as counted last, or, of an answer that has just begun, as the event left it.
std::vector<SlotCounts> slots_of(std::span<const LayerFigures> layers);

// The share of slots left of what is attached or, if nothing is, of the text; mean over layers. 1 if there was nothing to drop.
double kept_share(std::span<const SlotCounts> layers, const TokenCounts& tokens);
double kept_share(const TurnFigures& figures);
// The share kept of all that was read, text and attachments together. Most methods are asked for a share of this.
double kept_of_all(std::span<const SlotCounts> layers, const TokenCounts& tokens);

// In use now: of the prompt with all that was said before, and of the answer.
struct HeldBytes {
  std::int64_t prompt = 0;
  std::int64_t answer = 0;
};
HeldBytes held_bytes(const KvBytes& kv, std::span<const SlotCounts> layers);
HeldBytes held_bytes(const TurnFigures& figures);

// The cache's memory: blocks of K and V, and the states of layers without slots.
std::int64_t memory_bytes(const KvBytes& kv);

}  // namespace winnow
