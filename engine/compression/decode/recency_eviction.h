// Decode phase of StreamingLLM and LocalWindow: after each token, while a head holds more than the cap, the oldest slot that is neither
// sink nor pinned is evicted. O(1) per token and head: the age order is built once and then used as a ring.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/base/index.h"
#include "engine/base/per_layer.h"
#include "engine/compression/closed_ranks.h"
#include "engine/compression/decode_policy.h"
#include "engine/compression/pinned_tokens.h"

namespace winnow {

class RecencyEviction : public DecodePolicy {
 public:
  // caps: slots per KV head of each layer, at least one more than sinks and pins. Tokens with an original index below `sinks` never leave.
  RecencyEviction(std::vector<std::int64_t> caps, std::int64_t sinks, std::int64_t kv_heads, PinnedTokens pinned = {});

  // From now on kept slots close the gaps of evicted ones (closed_ranks.h). cache: the policy's.
  void close_ranks(const KvCache& cache);

  std::unique_ptr<DecodePolicy> clone() const override { return std::make_unique<RecencyEviction>(*this); }
  void after_layers(KvCache& cache, LayerId first, std::span<const DecodeRow> rows, MergeState& state) override;
  const std::vector<std::int64_t>& caps() const { return caps_.values(); }

 private:
  struct Aged {
    std::int32_t slot;
    std::int32_t original;
  };
  // Evictable slots of one head as a ring, oldest first from `next` on. Checked against the cache before use, rebuilt if stale.
  struct Ring {
    std::vector<Aged> by_age;
    std::size_t next = 0;
  };
  bool may_leave(std::int32_t original) const { return original >= sinks_ && !pinned_.contains(original); }
  void evict_excess(KvCache& cache, LayerId layer);
  // The evicted tokens.
  std::int32_t evict_oldest(KvCache& cache, LayerId layer, KvHead head, Ring& ring) const;
  std::vector<std::int32_t> evict_many(KvCache& cache, LayerId layer, KvHead head, std::int64_t count) const;

  PerLayer<std::int64_t> caps_;
  std::int64_t sinks_;
  std::int64_t kv_heads_;
  PinnedTokens pinned_;
  std::vector<Ring> rings_;         // [layers * kv_heads]
  std::vector<MovingKeys> moving_;  // likewise; empty: positions stay
};

}  // namespace winnow
