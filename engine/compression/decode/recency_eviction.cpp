#include "engine/compression/decode/recency_eviction.h"

#include <algorithm>
#include <utility>

#include "engine/base/error.h"

namespace winnow {

RecencyEviction::RecencyEviction(std::vector<std::int64_t> caps, std::int64_t sinks, std::int64_t kv_heads, PinnedTokens pinned)
    : caps_(std::move(caps)),
      sinks_(sinks),
      kv_heads_(kv_heads),
      pinned_(std::move(pinned)),
      rings_(static_cast<std::size_t>(caps_.layers() * kv_heads)) {
  const std::int64_t staying = sinks_ + pinned_.count_from(sinks_);
  for (const std::int64_t cap : caps_) require(cap > staying, "RecencyEviction: the cap must leave room beside sinks and pins");
}

void RecencyEviction::after_layers(KvCache& cache, LayerId first, std::span<const DecodeRow> rows, MergeState&) {
  for (LayerId layer = first; layer < first + std::ssize(rows); ++layer) evict_excess(cache, layer);
}

void RecencyEviction::evict_excess(KvCache& cache, LayerId layer) {
  const std::int64_t cap = caps_.at(layer);
  for (KvHead head{0}; head < kv_heads_; ++head) {
    Ring& ring = rings_[static_cast<std::size_t>(layer * kv_heads_ + head)];
    const std::int64_t excess = cache.slots(layer, head) - cap;
    if (excess <= 0) continue;
    std::vector<std::int32_t> left;
    if (excess == 1) {
      left = {evict_oldest(cache, layer, head, ring)};
    } else {
      left = evict_many(cache, layer, head, excess);
      ring = {};
    }
    if (!moving_.empty()) moving_[static_cast<std::size_t>(layer * kv_heads_ + head)].after_leaving(cache, layer, head, left);
  }
}

void RecencyEviction::close_ranks(const KvCache& cache) {
  moving_.clear();
  for (LayerId layer{0}; layer < cache.shape().layers; ++layer) {
    for (KvHead head{0}; head < kv_heads_; ++head) {
      const std::span<const std::int32_t> original = cache.original(layer, head);
      std::vector<std::int64_t> staying;
      for (std::size_t slot = 0; slot < original.size(); ++slot) {
        if (!may_leave(original[slot])) staying.push_back(static_cast<std::int64_t>(slot));
      }
      moving_.emplace_back(cache, layer, head, std::move(staying));
    }
  }
}

std::int32_t RecencyEviction::evict_oldest(KvCache& cache, LayerId layer, KvHead head, Ring& ring) const {
  const std::span<const std::int32_t> original = cache.original(layer, head);
  const auto newest_slot = static_cast<std::int32_t>(original.size()) - 1;
  const std::int32_t newest = original.back();
  const auto stale = [&] {
    if (ring.by_age.empty()) return true;
    const Aged& oldest = ring.by_age[ring.next];
    return oldest.slot >= newest_slot || original[static_cast<std::size_t>(oldest.slot)] != oldest.original;
  };
  if (stale()) {
    ring = {};
    for (std::int32_t slot = 0; slot < newest_slot; ++slot) {
      const std::int32_t token = original[static_cast<std::size_t>(slot)];
      if (may_leave(token)) ring.by_age.push_back({slot, token});
    }
    std::sort(ring.by_age.begin(), ring.by_age.end(), [](const Aged& a, const Aged& b) { return a.original < b.original; });
  }
  Aged& oldest = ring.by_age[ring.next];
  const std::int32_t left = oldest.original;
  cache.evict(layer, head, oldest.slot);  // the newest token moves into this slot
  oldest.original = newest;
  ring.next = (ring.next + 1) % ring.by_age.size();
  return left;
}

std::vector<std::int32_t> RecencyEviction::evict_many(KvCache& cache, LayerId layer, KvHead head, std::int64_t count) const {
  const std::span<const std::int32_t> original = cache.original(layer, head);
  std::vector<Aged> candidates;
  for (std::size_t slot = 0; slot < original.size(); ++slot) {
    if (may_leave(original[slot])) candidates.push_back({static_cast<std::int32_t>(slot), original[slot]});
  }
  std::sort(candidates.begin(), candidates.end(), [](const Aged& a, const Aged& b) { return a.original < b.original; });
  candidates.resize(static_cast<std::size_t>(std::min(count, static_cast<std::int64_t>(candidates.size()))));
  // From the back: the slot that moves into a hole is then never one that has to leave.
  std::sort(candidates.begin(), candidates.end(), [](const Aged& a, const Aged& b) { return a.slot > b.slot; });
  std::vector<std::int32_t> left;
  for (const Aged& victim : candidates) {
    left.push_back(victim.original);
    cache.evict(layer, head, victim.slot);
  }
  return left;
}

}  // namespace winnow
