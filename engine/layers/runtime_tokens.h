// The tokens of a head with shared slots (kv_cache/shared_entries.h), as attention sees them.
//
// Used by shared_entry_attention.h, device_decode_attention.h and policies that share slots. The table's tokens in table order, then the
// direct slots in slot order. Plain data, O(tokens). Engine thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/index.h"
#include "engine/kv_cache/kv_cache.h"

namespace winnow {

// Per runtime token.
struct RuntimeTokens {
  std::vector<std::int64_t> slot;  // masked tokens: 0, without weight
  std::vector<float> factor;       // of the slot's logit: the key's length, 1 for direct slots, 0 for masked tokens
  std::vector<float> bias;         // of the logit: 0, or minus infinity for masked tokens
  std::vector<float> weight;       // of the slot's value: 1, 0 for masked tokens
  std::vector<float> position;     // that the key is rotated to; 0 for direct slots, whose keys are already rotated
  bool rotated = false;            // positions matter

  std::size_t size() const { return slot.size(); }
};

RuntimeTokens runtime_tokens(const KvCache& cache, LayerId layer, KvHead kv_head);

// Slots of a head that no token of its table names, ascending.
std::vector<std::int32_t> direct_slots(const KvCache& cache, LayerId layer, KvHead kv_head);

// Per token of a table whose keys are rotated at use: the position that its key is rotated to; 0 if masked. direct: the head's direct
// slots.
std::vector<float> table_positions(const SharedEntries& table, std::span<const std::int32_t> direct,
                                   std::span<const std::int32_t> original);

}  // namespace winnow
