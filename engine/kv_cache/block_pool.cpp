#include "engine/kv_cache/block_pool.h"

#include <algorithm>

namespace winnow {

BlockPool::BlockPool(const KvShape& shape) : shape_(shape), free_(std::make_shared<FreePlaces>()) {}

std::vector<std::shared_ptr<KvBlock>> BlockPool::take(std::int64_t count) {
  std::vector<std::shared_ptr<KvBlock>> blocks;
  blocks.reserve(static_cast<std::size_t>(count));
  if (shape_.device.is_cpu()) {
    while (std::ssize(blocks) < count) blocks.push_back(std::make_shared<KvBlock>(shape_));
    return blocks;
  }
  take_places(blocks, count);
  const std::int64_t most = std::max<std::int64_t>(1, kMostBytes / (KvCache::kBlockSlots * shape_.slot_bytes()));
  while (std::ssize(blocks) < count) {
    const std::int64_t here = std::min(most, count - std::ssize(blocks));
    const auto memory = std::make_shared<const BlockMemory>(shape_, here, free_);
    for (std::int64_t place = 0; place < here; ++place) blocks.push_back(std::make_shared<KvBlock>(shape_, memory, place));
  }
  return blocks;
}

// Those that other blocks have left.
void BlockPool::take_places(std::vector<std::shared_ptr<KvBlock>>& blocks, std::int64_t count) {
  while (std::ssize(blocks) < count && !free_->empty()) {
    const FreePlace left = std::move(free_->back());
    free_->pop_back();
    if (auto memory = left.memory.lock()) blocks.push_back(std::make_shared<KvBlock>(shape_, std::move(memory), left.place));
  }
}

}  // namespace winnow
