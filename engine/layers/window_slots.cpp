#include "engine/layers/window_slots.h"

#include <algorithm>

namespace winnow {
namespace {

void forget_before(KvCache& cache, LayerId layer, std::int32_t first) {
  if (first <= 0) return;
  LayerPlan plan;
  bool all_stay = true;
  for (KvHead head{0}; head < cache.shape().kv_heads; ++head) {
    const std::span<const std::int32_t> original = cache.original(layer, head);
    std::vector<std::int32_t>& kept = plan.kept.emplace_back();
    for (std::size_t slot = 0; slot < original.size(); ++slot) {
      if (original[slot] >= first) kept.push_back(static_cast<std::int32_t>(slot));
    }
    all_stay = all_stay && kept.size() == original.size();
  }
  if (!all_stay) cache.compact_all(layer, plan);
}

}  // namespace

void append_seen(KvCache& cache, LayerId layer, const SegmentRows& rows) {
  const std::int32_t first = cache.shape().first_seen(layer, rows.original.back() + 1);
  const auto hidden = std::ranges::lower_bound(rows.original, first) - rows.original.begin();
  const std::int64_t seen = std::ssize(rows.original) - hidden;
  forget_before(cache, layer, first);
  cache.append(layer, rows.key.narrow(1, hidden, seen), rows.value.narrow(1, hidden, seen),
               rows.original.subspan(static_cast<std::size_t>(hidden)), rows.positions.narrow(1, hidden, seen));
}

void finish_layers(KvCache& cache, LayerId first, std::span<const DecodeRow> rows, std::int32_t original, DecodeObserver* observer) {
  if (observer != nullptr) observer->after_layers(first, rows);
  for (LayerId layer = first; layer < first + std::ssize(rows); ++layer) {
    const std::int32_t first_seen = cache.shape().first_seen(layer, original + 1);
    for (KvHead head{0}; first_seen > 0 && head < cache.shape().kv_heads; ++head) {
      for (std::int64_t slot = cache.slots(layer, head) - 1; slot >= 0; --slot) {
        if (cache.original(layer, head)[static_cast<std::size_t>(slot)] >= first_seen) continue;
        if (observer != nullptr) observer->leaves_window(layer, head, slot);
        cache.evict(layer, head, slot);
      }
    }
  }
}

}  // namespace winnow
