#include "engine/layers/runtime_tokens.h"

#include <algorithm>
#include <limits>
#include <span>

namespace winnow {

RuntimeTokens runtime_tokens(const KvCache& cache, LayerId layer, KvHead kv_head) {
  RuntimeTokens tokens;
  const std::span<const std::int32_t> original = cache.original(layer, kv_head);
  std::vector<bool> direct(original.size(), true);
  const SharedEntries* table = cache.shared_entries(layer, kv_head);
  if (table != nullptr) {
    tokens.turned = table->rotation != SharedEntries::Rotation::kStored;
    const float masked = table->zero_counts ? 0.0F : -std::numeric_limits<float>::infinity();
    for (std::size_t i = 0; i < table->size(); ++i) {
      const bool live = table->slot[i] != SharedEntries::kZero;
      tokens.slot.push_back(live ? table->slot[i] : 0);
      tokens.factor.push_back(live ? table->norm[i] : 0.0F);
      tokens.bias.push_back(live ? 0.0F : masked);
      tokens.weight.push_back(live ? 1.0F : 0.0F);
      if (live) direct[static_cast<std::size_t>(table->slot[i])] = false;
    }
  }
  std::vector<std::int32_t> direct_tokens;
  for (std::size_t slot = 0; slot < original.size(); ++slot) {
    if (!direct[slot]) continue;
    tokens.slot.push_back(static_cast<std::int64_t>(slot));
    tokens.factor.push_back(1.0F);
    tokens.bias.push_back(0.0F);
    tokens.weight.push_back(1.0F);
    direct_tokens.push_back(original[slot]);
  }
  if (!tokens.turned) return tokens;
  tokens.position.assign(tokens.slot.size(), 0.0F);
  std::sort(direct_tokens.begin(), direct_tokens.end());
  const std::int32_t newest = direct_tokens.empty() ? -1 : direct_tokens.back();
  std::int64_t behind = 0;  // live tokens at or after the one in turn
  for (std::size_t i = table->size(); i-- > 0;) {
    if (tokens.weight[i] == 0.0F) continue;
    for (; !direct_tokens.empty() && direct_tokens.back() > table->original[i]; direct_tokens.pop_back()) ++behind;
    ++behind;
    const bool by_rank = table->rotation == SharedEntries::Rotation::kByRank;
    tokens.position[i] = static_cast<float>(by_rank ? newest + 1 - behind : table->original[i]);
  }
  return tokens;
}

}  // namespace winnow
