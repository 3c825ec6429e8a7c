// Decode phase of StreamingLLM and LocalWindow: after each token the oldest slot that is no sink and not pinned leaves while a head holds
// more than the cap. O(1) per token and head: the order of ages is built once and then only turned.
#pragma once

#include <cstdint>
#include <memory>
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

  // From now on what stays moves up behind what leaves (closed_ranks.h). The cache is the one that the policy is for.
  void close_ranks(const KvCache& cache);

  std::unique_ptr<DecodePolicy> clone() const override { return std::make_unique<RecencyEviction>(*this); }
  void after_layer(KvCache& cache, LayerId layer, const DecodeRow& row, MergeState& state) override;
  const std::vector<std::int64_t>& caps() const { return caps_.values(); }

 private:
  struct Aged {
    std::int32_t slot;
    std::int32_t original;
  };
  // Slots of one head that may leave, oldest first from `next` on, as a ring. Checked against the cache before use, rebuilt if stale.
  struct Ring {
    std::vector<Aged> by_age;
    std::size_t next = 0;
  };
  bool may_leave(std::int32_t original) const { return original >= sinks_ && !pinned_.contains(original); }
  // The tokens that left.
  std::int32_t evict_oldest(KvCache& cache, LayerId layer, KvHead head, Ring& ring) const;
  std::vector<std::int32_t> evict_many(KvCache& cache, LayerId layer, KvHead head, std::int64_t count) const;

  PerLayer<std::int64_t> caps_;
  std::int64_t sinks_;
  std::int64_t kv_heads_;
  PinnedTokens pinned_;
  std::vector<Ring> rings_;         // [layers * kv_heads]
  std::vector<MovingKeys> moving_;  // the same; empty: positions stay as they are
};

}  // namespace winnow
