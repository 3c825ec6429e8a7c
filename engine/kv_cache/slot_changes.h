// Slots that take another's place or flow into others in the memory of a GPU, noted until somebody reads or writes there: what leaves after
// a decoded token, in all layers and heads, is one launch then (kernels/api/cuda_change_slots.h) instead of one for every head.
//
// Used inside engine/kv_cache. Errors: kDeviceFailed from carry_out(). Engine thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "engine/kv_cache/kv_block.h"
#include "engine/kv_cache/kv_cache.h"
#include "kernels/api/cuda_change_slots.h"

namespace winnow {

class SlotChanges {
 public:
  struct Row {
    KvBlock* block = nullptr;
    std::int64_t row = 0;
  };

  bool empty() const { return of_heads_.empty(); }
  // Of a block that its head drops: what is noted may read it.
  void keep(std::shared_ptr<KvBlock> block) {
    if (!empty()) dropped_.push_back(std::move(block));
  }
  // head: of all layers'. Changes of a head take place in their order.
  void note_move(std::size_t head, const Row& from, const Row& to);
  void note_inflow(std::size_t head, const Row& from, const Row& to, const Inflow& inflow);
  void carry_out(const KvShape& shape);

 private:
  void note(std::size_t head, const Row& from, const Row& to, kernels::SlotChange change);

  struct Noted {
    Row from;
    Row to;
    kernels::SlotChange change;  // without its rows
  };
  std::map<std::size_t, std::vector<Noted>> of_heads_;
  std::vector<std::shared_ptr<KvBlock>> dropped_;
};

}  // namespace winnow
