// Simulates KvCache's block allocation: blocks held, and their peak.
//
// Used to predict caches (foreseen_cache.h) and media prefills. Compaction allocates new blocks before it frees the old ones: head by head
// on the CPU, a whole layer at once on a GPU.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/kv_cache/kv_cache.h"

namespace winnow {

class BlockCount {
 public:
  BlockCount(const KvShape& shape, std::int64_t held) : layer_at_once_(!shape.device.is_cpu()), held_(held), peak_(held) {}

  std::int64_t peak() const { return peak_; }

  void add(std::int64_t blocks) {
    held_ += blocks;
    peak_ = std::max(peak_, held_);
  }

  // Counts a head of the layer that is compacted.
  void replace(std::int64_t blocks, std::int64_t fresh) {
    leaving_ += blocks;
    add(fresh);
    if (!layer_at_once_) layer_done();
  }

  // After the layer's last head.
  void layer_done() {
    held_ -= leaving_;
    leaving_ = 0;
  }

 private:
  bool layer_at_once_;
  std::int64_t held_;
  std::int64_t peak_;
  std::int64_t leaving_ = 0;
};

}  // namespace winnow
