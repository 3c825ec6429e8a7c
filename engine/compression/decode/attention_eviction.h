// Decode phase of methods that accumulate every decoded token's attention: H2O, D2O, RoCo, CaM.
//
// Per slot: attention accumulated over all rows that saw it (prefill and decode, group mean), its squares, and the row count. After a
// token, while a head holds more than its cap, the rule's choice among unpinned slots is evicted; the reducer merges or drops it. O(slots)
// per token and head beside the attention itself; merging adds one dot product of the evicted key with every kept key.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/base/index.h"
#include "engine/base/per_layer.h"
#include "engine/compression/decode_policy.h"
#include "engine/compression/pinned_tokens.h"
#include "engine/recipes/composition.h"

namespace winnow {

// Parallel to the slots of one head.
struct SlotAttention {
  std::vector<float> sum;
  std::vector<float> square{};     // of group-mean probabilities; empty if the rule needs none
  std::vector<std::int32_t> rows;  // that saw the slot
  // In a layer with a window, the slots' tokens: some may have been evicted before they are scored. Else empty.
  std::vector<std::int32_t> original{};
};

class AttentionEviction : public DecodePolicy {
 public:
  // caps: slots per KV head of each layer, more than are pinned; kNoCap: no eviction. slots: [layers * kv_heads], as the cache.
  AttentionEviction(std::vector<std::int64_t> caps, const Composition& parts, std::int64_t kv_heads, std::vector<SlotAttention> slots,
                    PinnedTokens pinned = {});

  std::unique_ptr<DecodePolicy> clone() const override { return std::make_unique<AttentionEviction>(*this); }
  bool wants_probabilities() const override { return true; }
  void after_layers(KvCache& cache, LayerId first, std::span<const DecodeRow> rows, MergeState& state) override;
  void leaves_window(LayerId layer, KvHead kv_head, std::int64_t slot) override { forget(layer, kv_head, slot); }
  bool removes() const override { return *std::min_element(caps_.begin(), caps_.end()) != kNoCap; }
  FollowedTokens retained_attention(const KvCache& cache, LayerId layer, KvHead kv_head, std::int32_t before) const override;
  std::int64_t bytes_metadata() const override;

  const SlotAttention& slots(LayerId layer, KvHead kv_head) const {
    return slots_.at(static_cast<std::size_t>(layer * kv_heads_ + kv_head));
  }

 private:
  // A slot about to be evicted, and the nearest other slot by key.
  struct Leaving {
    LayerId layer;
    KvHead head;
    MergePair nearest;
  };
  std::vector<Leaving> choose_leaving(const KvCache& cache, LayerId first, std::int64_t layers) const;
  SlotAttention& mutable_slots(LayerId layer, KvHead kv_head) { return slots_[static_cast<std::size_t>(layer * kv_heads_ + kv_head)]; }
  void follow(SlotAttention& slots, std::span<const float> probabilities) const;
  std::int64_t choose(std::span<const std::int32_t> original, const SlotAttention& slots, std::int64_t cap) const;
  std::size_t oldest_unpinned(std::span<const std::int32_t> original, std::int64_t sinks) const;
  void merge(KvCache& cache, const Leaving& leaving, double threshold) const;
  void let_leave(KvCache& cache, std::span<const Leaving> of_layer, MergeState& state);
  void remove(KvCache& cache, LayerId layer, KvHead head, std::int64_t slot);
  void forget(LayerId layer, KvHead head, std::int64_t slot);  // as KvCache::evict() moves slots

  PerLayer<std::int64_t> caps_;
  Protection protection_;
  DecodeRule rule_;
  std::shared_ptr<const Reducer> reducer_;
  std::int64_t kv_heads_;
  std::vector<SlotAttention> slots_;
  PinnedTokens pinned_;
};

}  // namespace winnow
