// Pending evictions and merges of slots in GPU memory, carried out at the next read or write there: after a decoded token, all layers and
// heads change in one launch (kernels/api/cuda_change_slots.h) instead of one a head.
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
  // Keeps a dropped block alive for pending changes that read it.
  void keep(std::shared_ptr<KvBlock> block) {
    if (!empty()) dropped_.push_back(std::move(block));
  }
  // head: counted over all layers. Changes of a head are carried out in order.
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
