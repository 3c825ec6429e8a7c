// Gives the heads of a cache their blocks, takes them back and counts them.
//
// Used inside engine/kv_cache. A block that is about to be written gets one owner: what forks share is copied first. On a GPU the tables of
// pointers there hear of every change (device_heads.h). Copies share the pool and the blocks. Errors: kOutOfMemory; the heads are then as
// they were. Engine thread only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/kv_cache/block_pool.h"
#include "engine/kv_cache/cached_head.h"
#include "engine/kv_cache/device_heads.h"
#include "engine/kv_cache/head_move.h"
#include "engine/kv_cache/kv_block.h"
#include "engine/kv_cache/kv_cache.h"

namespace winnow {

class HeadBlocks {
 public:
  explicit HeadBlocks(const KvShape& shape);

  // The heads in GPU memory; null on the CPU.
  DeviceHeads* device() { return device_ ? &*device_ : nullptr; }

  // For `tokens` more slots of each head: blocks, the one that is begun its own.
  void make_room(std::span<CachedHead> heads, std::int64_t tokens);

  // Gives `count` slots from `first_slot` on blocks of their own, to be written.
  KvBlock& writable(CachedHead& head, std::int64_t block);
  void make_writable(CachedHead& head, std::int64_t first_slot, std::int64_t count);
  // In place of a wide block; its rows are lost.
  void make_narrow(CachedHead& head, std::int64_t block);

  // Blocks `first` to `blocks` of a head that has none of them yet; they count in the peak.
  std::vector<std::shared_ptr<KvBlock>> take(std::int64_t first, std::int64_t blocks);
  // The same into the moves' `fresh`, for all heads at once.
  void take(std::vector<std::optional<HeadMove>>& moves);

  // Replaces the head's blocks from `first` on. Returns those that were there.
  std::vector<std::shared_ptr<KvBlock>> replace(CachedHead& head, std::int64_t first, std::vector<std::shared_ptr<KvBlock>> fresh);
  // Releases the blocks that no slot in use needs.
  void trim(CachedHead& head);
  // The head becomes what it was in a fork.
  void restore(CachedHead& head, const CachedHead& earlier);

  std::int64_t bytes() const { return blocks_ * block_bytes_; }
  std::int64_t peak_bytes() const { return peak_ * block_bytes_; }
  void reset_peak() { peak_ = blocks_; }

 private:
  void push(CachedHead& head, std::shared_ptr<KvBlock> block);
  void make_own(CachedHead& head, std::int64_t index, std::shared_ptr<KvBlock> own);
  void put(CachedHead& head, std::int64_t index, std::shared_ptr<KvBlock> block);
  // The fresh block, or a wide one for a place that wants it.
  std::shared_ptr<KvBlock> suited(std::shared_ptr<KvBlock> fresh, bool wide) const;
  void note_changed(const CachedHead& head);
  void note_peak(std::int64_t extra_blocks) { peak_ = std::max(peak_, blocks_ + extra_blocks); }
  template <class Each, class Missing, class Give>
  void in_turns(std::span<Each> all, const Missing& missing, const Give& give) const;

  KvShape shape_;
  KvShape wide_;                     // of wide blocks
  std::shared_ptr<BlockPool> pool_;  // shared by forks
  std::optional<DeviceHeads> device_;
  std::int64_t block_bytes_;
  std::int64_t blocks_ = 0;
  std::int64_t peak_ = 0;
};

}  // namespace winnow
