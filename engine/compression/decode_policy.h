// Keeps a cap on every layer while decoding, for methods of phase decode (StreamingLLM, LocalWindow).
//
// Belongs to a conversation and is copied with it. After each token the oldest slot that is no sink leaves while a head holds more than
// the cap; O(1) per token and head: the order of ages is built once and then only turned. Engine thread only.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/compression/recipe.h"
#include "engine/compression/segment_compressor.h"
#include "engine/kv_cache/kv_cache.h"

namespace winnow {

class DecodePolicy {
 public:
  // caps: slots per kv head of each layer, at least sinks + 1. Tokens with an original index below `sinks` never leave.
  DecodePolicy(std::vector<std::int64_t> caps, std::int64_t sinks, std::int64_t kv_heads);

  // After a layer's attention of one decoded token.
  void after_layer(KvCache& cache, std::int64_t layer);

  const std::vector<std::int64_t>& caps() const { return caps_; }

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
  void evict_oldest(KvCache& cache, std::int64_t layer, std::int64_t head, Ring& ring) const;
  void evict_many(KvCache& cache, std::int64_t layer, std::int64_t head, std::int64_t count) const;

  std::vector<std::int64_t> caps_;
  std::int64_t sinks_;
  std::int64_t kv_heads_;
  std::vector<Ring> rings_;  // [layers * kv_heads]
};

// The policy for the answer that follows a segment, once its plans have been applied to `cache`. Nothing for methods that only append and
// for a share of 1. With an absolute budget the cap is that budget, over all turns. With a share, the cap is what the cache holds now: the
// earlier cap plus what was granted to the new segment; as long as no segment has been compressed (short texts) there is no cap.
std::optional<DecodePolicy> next_decode_policy(const std::optional<DecodePolicy>& previous, const Recipe& recipe,
                                               const SegmentCompressor& compressor, const KvCache& cache);

}  // namespace winnow
