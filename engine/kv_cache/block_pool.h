// Allocates a cache's blocks. On a GPU many share one allocation: one by one, a prompt's blocks would take the host longer than the device
// needs to fill them.
//
// Used inside engine/kv_cache; forks share it. A freed block's memory goes to the next block; an allocation is freed with its last block,
// so no more is held than was once in use. Allocations are small enough for the pool that libtorch's allocator uses for single blocks, so
// they do not fragment it for other tensor sizes. On the CPU each block is its own allocation. Errors: kOutOfMemory. Engine thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "engine/kv_cache/kv_block.h"
#include "engine/kv_cache/kv_cache.h"

namespace winnow {

class BlockPool {
 public:
  static constexpr std::int64_t kMostBytes = std::int64_t{1} << 20;  // of an allocation on a GPU, unless a block is larger

  explicit BlockPool(const KvShape& shape);
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  // Uninitialised. All or none.
  std::vector<std::shared_ptr<KvBlock>> take(std::int64_t count);
  std::shared_ptr<KvBlock> take_one() { return std::move(take(1).front()); }

 private:
  void take_places(std::vector<std::shared_ptr<KvBlock>>& blocks, std::int64_t count);

  KvShape shape_;
  std::shared_ptr<FreePlaces> free_;
};

}  // namespace winnow
