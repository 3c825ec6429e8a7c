#include "engine/kv_cache/block_table.h"

#include <algorithm>
#include <utility>

#include "engine/device/host_numbers.h"

namespace winnow {

DeviceBlocks BlockTable::blocks_of(std::span<const CachedHead> heads, at::Device device) {
  if (stale_) {
    std::size_t longest = 1;
    for (const CachedHead& head : heads) longest = std::max(longest, head.blocks.size());
    const bool fits = pointers_.defined() && static_cast<std::int64_t>(longest) <= stride_;
    const std::int64_t stride = fits ? stride_ : static_cast<std::int64_t>(longest) + kSpareBlocks;
    const auto width = static_cast<std::size_t>(stride);
    std::vector<std::int64_t> pointers(2 * heads.size() * width, 0);
    for (std::size_t i = 0; i < heads.size(); ++i) {
      for (std::size_t b = 0; b < heads[i].blocks.size(); ++b) {
        pointers[i * width + b] = reinterpret_cast<std::int64_t>(heads[i].blocks[b]->begin_of(KvPart::kKeys));
        pointers[(heads.size() + i) * width + b] = reinterpret_cast<std::int64_t>(heads[i].blocks[b]->begin_of(KvPart::kValues));
      }
    }
    // A block that was freed and taken again at the same place changes nothing. Both copies come behind the work that reads the old ones.
    if (pointers != host_) {
      if (fits && pointers_.use_count() == 1) {
        pointers_.copy_(at::tensor(pointers), /*non_blocking=*/true);
      } else {
        pointers_ = numbers_on(device, pointers);
      }
      host_ = std::move(pointers);
      stride_ = stride;
    }
    stale_ = false;
  }
  auto* const keys = reinterpret_cast<void* const*>(pointers_.const_data_ptr<std::int64_t>());
  return {keys, keys + std::ssize(heads) * stride_, stride_};
}

}  // namespace winnow
