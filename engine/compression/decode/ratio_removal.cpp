#include "engine/compression/decode/ratio_removal.h"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace winnow {

void RatioRemoval::after_layers(KvCache& cache, LayerId first, std::span<const DecodeRow> rows, MergeState&) {
  for (LayerId layer = first; layer < first + std::ssize(rows); ++layer) evict_excess(cache, layer);
}

void RatioRemoval::evict_excess(KvCache& cache, LayerId layer) const {
  const Layer& about = layers_.at(layer);
  for (KvHead head{0}; head < kv_heads_; ++head) {
    for (;;) {
      const std::span<const std::int32_t> original = cache.original(layer, head);
      const std::int64_t slots = std::ssize(original);
      const std::int64_t seen = 1 + *std::max_element(original.begin(), original.end());  // the new token's number is the highest
      if (static_cast<double>(slots) - about.share * static_cast<double>(1 + cache.shape().held(layer, seen - 1)) < 1.0) break;
      std::int64_t rank = about.event_slots + distance_;
      if (rank < fixed_first_) rank = about.event_slots / 2;
      rank = std::clamp<std::int64_t>(rank, 0, slots - 1);
      std::vector<std::int32_t> by_token(static_cast<std::size_t>(slots));
      std::iota(by_token.begin(), by_token.end(), 0);
      const auto older = [&](std::int32_t a, std::int32_t b) {
        return original[static_cast<std::size_t>(a)] < original[static_cast<std::size_t>(b)];
      };
      const auto may_leave = [&](std::int32_t slot) { return !pinned_.contains(original[static_cast<std::size_t>(slot)]); };
      const auto chosen = by_token.begin() + rank;
      std::nth_element(by_token.begin(), chosen, by_token.end(), older);
      auto victim = chosen;
      if (!may_leave(*chosen)) {
        std::sort(by_token.begin(), by_token.end(), older);
        victim = std::find_if(chosen, by_token.end(), may_leave);
        if (victim == by_token.end()) {
          const auto before = std::find_if(std::make_reverse_iterator(chosen), by_token.rend(), may_leave);
          if (before == by_token.rend()) break;  // pins are all there is
          victim = before.base() - 1;
        }
      }
      cache.evict(layer, head, *victim);
    }
  }
}

}  // namespace winnow
