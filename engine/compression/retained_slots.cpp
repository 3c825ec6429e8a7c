#include "engine/compression/retained_slots.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "engine/compression/decode_policy.h"
#include "engine/device/host_numbers.h"
#include "engine/layers/shared_entry_attention.h"

namespace winnow {

namespace {

// Tokens of a head as slots of their own would hold them, in any order.
struct HeadTokens {
  std::vector<std::int32_t> original;
  SlotRows rows;  // [tokens, head_dim]; of slots that nobody shares as StoredSlots::read() tells them
};

HeadTokens tokens_of(const KvCache& cache, LayerId layer, KvHead kv_head) {
  HeadTokens tokens;
  const std::span<const std::int32_t> slots = cache.original(layer, kv_head);
  const SharedEntries* table = cache.shared_entries(layer, kv_head);
  if (table == nullptr) {
    tokens.original.assign(slots.begin(), slots.end());
    tokens.rows = StoredSlots::read(cache, layer, kv_head);
    return tokens;
  }
  std::vector<std::int64_t> live, slot_of;  // runtime tokens: the table's, then the direct slots
  std::vector<bool> direct(slots.size(), true);
  for (std::size_t i = 0; i < table->size(); ++i) {
    if (table->slot[i] == SharedEntries::kZero) continue;
    live.push_back(static_cast<std::int64_t>(i));
    slot_of.push_back(table->slot[i]);
    direct[static_cast<std::size_t>(table->slot[i])] = false;
    tokens.original.push_back(table->original[i]);
  }
  auto runtime = static_cast<std::int64_t>(table->size());
  for (std::size_t slot = 0; slot < slots.size(); ++slot) {
    if (!direct[slot]) continue;
    live.push_back(runtime++);
    slot_of.push_back(static_cast<std::int64_t>(slot));
    tokens.original.push_back(slots[slot]);
  }
  const at::Device device = cache.shape().device;
  tokens.rows = {runtime_keys(cache, layer, kv_head).index_select(0, numbers_on(device, live)).to(cache.shape().dtype),
                 cache.gather_values(layer, kv_head).index_select(0, numbers_on(device, slot_of))};
  return tokens;
}

void put_in_order(KvCache& cache, LayerId layer, KvHead kv_head) {
  const std::span<const std::int32_t> slots = cache.original(layer, kv_head);
  if (cache.shared_entries(layer, kv_head) == nullptr && std::is_sorted(slots.begin(), slots.end())) return;
  const HeadTokens tokens = tokens_of(cache, layer, kv_head);
  std::vector<std::int64_t> order(tokens.original.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return tokens.original[static_cast<std::size_t>(a)] < tokens.original[static_cast<std::size_t>(b)];
  });
  std::vector<std::int32_t> original;
  for (const std::int64_t token : order) original.push_back(tokens.original[static_cast<std::size_t>(token)]);
  const at::Tensor index = numbers_on(cache.shape().device, order);
  SlotRows rows{tokens.rows.keys.index_select(0, index), tokens.rows.values.index_select(0, index)};
  cache.assign(layer, kv_head, rows.keys, rows.values, original);
  if (!tokens.rows.positions.defined()) return;
  rows.positions = tokens.rows.positions.index_select(1, index);
  StoredSlots::write(cache, layer, kv_head, 0, rows);
}

}  // namespace

RetainedSlots take_retained(KvCache& cache, std::span<const TokenOrigin> origins, const DecodePolicy* policy) {
  const KvShape& shape = cache.shape();
  RetainedSlots retained;
  retained.kv_heads = shape.kv_heads;
  retained.tokens_seen = std::ssize(origins);
  retained.visual_seen =
      std::count_if(origins.begin(), origins.end(), [](const TokenOrigin& origin) { return is_attached(origin.modality); });
  for (LayerId layer{0}; layer < shape.layers; ++layer) {
    for (KvHead kv_head{0}; kv_head < shape.kv_heads; ++kv_head) {
      FollowedTokens followed;
      if (policy != nullptr) followed = policy->retained_attention(cache, layer, kv_head, std::numeric_limits<std::int32_t>::max());
      put_in_order(cache, layer, kv_head);
      RetainedHead head;
      const std::span<const std::int32_t> all = cache.original(layer, kv_head);
      const auto first = std::ranges::lower_bound(all, shape.first_seen(layer, static_cast<std::int32_t>(std::ssize(origins))));
      const std::span<const std::int32_t> slots(first, all.end());
      head.original.assign(slots.begin(), slots.end());
      for (const std::int32_t original : slots) {
        head.modality.push_back(origins[static_cast<std::size_t>(original)].modality);
        if (followed.empty()) continue;
        const auto found = followed.find(original);
        const FollowedToken about = found != followed.end() ? found->second : FollowedToken{};
        head.sums.push_back(about.sum);
        head.squares.push_back(about.square);
        head.local.push_back(about.local_past + about.local_current);
        head.rows.push_back(about.rows);
      }
      retained.heads.push_back(std::move(head));
    }
  }
  return retained;
}

}  // namespace winnow
