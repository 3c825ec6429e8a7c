#include "engine/layers/runtime_tokens.h"

#include <algorithm>
#include <limits>

namespace winnow {

std::vector<std::int32_t> direct_slots(const KvCache& cache, LayerId layer, KvHead kv_head) {
  std::vector<std::uint8_t> named(static_cast<std::size_t>(cache.slots(layer, kv_head)), 0);  // bytes: written faster than bits
  if (const SharedEntries* table = cache.shared_entries(layer, kv_head)) {
    for (const std::int32_t slot : table->slot) {
      if (slot != SharedEntries::kZero) named[static_cast<std::size_t>(slot)] = 1;
    }
  }
  std::vector<std::int32_t> direct;
  for (std::size_t slot = 0; slot < named.size(); ++slot) {
    if (named[slot] == 0) direct.push_back(static_cast<std::int32_t>(slot));
  }
  return direct;
}

std::vector<float> table_positions(const SharedEntries& table, std::span<const std::int32_t> direct,
                                   std::span<const std::int32_t> original) {
  std::vector<float> positions(table.size(), 0.0F);
  std::vector<std::int32_t> direct_tokens;
  for (const std::int32_t slot : direct) direct_tokens.push_back(original[static_cast<std::size_t>(slot)]);
  std::sort(direct_tokens.begin(), direct_tokens.end());
  const std::int32_t newest = direct_tokens.empty() ? -1 : direct_tokens.back();
  const bool by_rank = table.rotation == SharedEntries::Rotation::kByRank;
  std::int64_t behind = 0;  // live tokens at or after the one in turn
  for (std::size_t i = table.size(); i-- > 0;) {
    if (table.slot[i] == SharedEntries::kZero) continue;
    for (; !direct_tokens.empty() && direct_tokens.back() > table.original[i]; direct_tokens.pop_back()) ++behind;
    ++behind;
    positions[i] = static_cast<float>(by_rank ? newest + 1 - behind : table.original[i]);
  }
  return positions;
}

RuntimeTokens runtime_tokens(const KvCache& cache, LayerId layer, KvHead kv_head) {
  RuntimeTokens tokens;
  const std::vector<std::int32_t> direct = direct_slots(cache, layer, kv_head);
  const SharedEntries* table = cache.shared_entries(layer, kv_head);
  const std::size_t listed = table != nullptr ? table->size() : 0;
  const std::size_t count = listed + direct.size();
  tokens.slot.resize(count, 0);
  tokens.factor.resize(count, 1.0F);
  tokens.bias.resize(count, 0.0F);
  tokens.weight.resize(count, 1.0F);
  if (table != nullptr) {
    const float masked = table->zero_counts ? 0.0F : -std::numeric_limits<float>::infinity();
    for (std::size_t i = 0; i < listed; ++i) {
      const bool live = table->slot[i] != SharedEntries::kZero;
      tokens.slot[i] = live ? table->slot[i] : 0;
      tokens.factor[i] = live ? table->norm[i] : 0.0F;
      tokens.bias[i] = live ? 0.0F : masked;
      tokens.weight[i] = live ? 1.0F : 0.0F;
    }
  }
  std::copy(direct.begin(), direct.end(), tokens.slot.begin() + static_cast<std::ptrdiff_t>(listed));
  tokens.rotated = table != nullptr && table->rotation != SharedEntries::Rotation::kStored;
  if (tokens.rotated) {
    tokens.position = table_positions(*table, direct, cache.original(layer, kv_head));
    tokens.position.resize(count, 0.0F);
  }
  return tokens;
}

}  // namespace winnow
