// The cached slots of one KV head of a layer. Plain values; used inside engine/kv_cache. Engine thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/base/index.h"
#include "engine/kv_cache/kv_block.h"
#include "engine/kv_cache/shared_entries.h"

namespace winnow {

struct CachedHead {
  LayerId layer{};
  KvHead kv_head{};
  const float* key_bias = nullptr;               // [head_dim], of the shape; keys are stored without it. Null: with it, if there is one
  std::vector<std::shared_ptr<KvBlock>> blocks;  // shared between forks of one conversation, see KvCache::fork
  std::vector<const void*> key_pointers{};       // of blocks, for kernels
  std::vector<const void*> value_pointers{};
  std::vector<std::int32_t> original{};
  std::vector<std::int32_t> rotations{};  // per slot, for keys stored without bias (key_bias.h); empty: the head's keys have none
  std::optional<SharedEntries> shared{};
  std::uint64_t table_state = 0;  // version of `shared`: forks with the same value have the same table

  // Needs a cache of codes.
  bool is_wide(std::int64_t block) const { return !blocks[static_cast<std::size_t>(block)]->holds_codes(); }
  std::int64_t slots() const { return static_cast<std::int64_t>(original.size()); }
};

}  // namespace winnow
