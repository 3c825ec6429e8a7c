// Where a cache's blocks come from. On a GPU many are one allocation: one by one, a prompt's would take the host longer than the device
// takes to fill them.
//
// Used inside engine/kv_cache; forks share it. A block that goes leaves its place to the next one that is taken, and the memory goes with
// the last block in it, so that no more is held than once was in use. An allocation is small enough to come from where libtorch's allocator
// puts single blocks, too: tensors of other sizes are not cut up by it. On the CPU a block is an allocation. Errors: kOutOfMemory. Engine
// thread only.
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
  static constexpr std::int64_t kMostBytes = std::int64_t{1} << 20;  // of an allocation on a GPU, unless a block has more

  explicit BlockPool(const KvShape& shape);
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  // Not filled. All or none.
  std::vector<std::shared_ptr<KvBlock>> take(std::int64_t count);
  std::shared_ptr<KvBlock> take_one() { return std::move(take(1).front()); }

 private:
  void take_places(std::vector<std::shared_ptr<KvBlock>>& blocks, std::int64_t count);

  KvShape shape_;
  std::shared_ptr<FreePlaces> free_;
};

}  // namespace winnow
