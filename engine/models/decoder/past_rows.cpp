#include "engine/models/decoder/past_rows.h"

#include <span>
#include <utility>
#include <vector>

#include "engine/layers/shared_entry_attention.h"

namespace winnow {

PastKeyValues past_rows(const KvCache& cache, LayerId layer, std::int32_t first_original, bool viewed) {
  PastKeyValues past;
  past.window.tokens = cache.shape().window(layer);
  past.window.first_original = first_original;
  past.cache = &cache;
  past.layer = layer;
  const std::int64_t kv_heads = cache.shape().kv_heads;
  std::int64_t slots = 0;
  std::vector<std::int64_t> own;  // shared slots are read in place
  for (KvHead head{0}; head < kv_heads; ++head) {
    slots += cache.slots(layer, head);
    own.push_back(cache.shared_entries(layer, head) != nullptr ? 0 : cache.slots(layer, head));
  }
  if (slots == 0) return past;
  std::vector<SlotRows> rows = WholeLayer::last(cache, layer, own);
  for (KvHead head{0}; head < kv_heads; ++head) {
    if (past.window.tokens > 0) {
      const std::span<const std::int32_t> original = cache.original(layer, head);
      past.window.original.emplace_back(original.begin(), original.end());
    }
    SlotRows& of_head = rows[static_cast<std::size_t>(head)];
    // Only a statistic needs the keys of shared slots one by one.
    if (cache.shared_entries(layer, head) != nullptr)
      of_head = {viewed ? runtime_keys(cache, layer, head).to(cache.shape().dtype) : at::Tensor(), at::Tensor()};
    past.keys.push_back(std::move(of_head.keys));
    past.values.push_back(std::move(of_head.values));
  }
  return past;
}

}  // namespace winnow
