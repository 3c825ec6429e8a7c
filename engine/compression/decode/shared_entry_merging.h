// Decode phase of EMS: every slot but a window of recent tokens is shared; a token that leaves the window becomes a slot of its own, and
// the least slot is merged into a similar one or masked. Pinned tokens keep direct slots of their own. EMS, arXiv 2412.08521, section 4.2.
//
// Beside the cache, whose look-up tables it edits, it keeps per token the attention from all rows and from the last ones. O(tokens) per
// decoded token and head, and one similarity of a slot with all others per merge.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/base/index.h"
#include "engine/base/per_layer.h"
#include "engine/compression/decode_policy.h"
#include "engine/compression/pinned_tokens.h"
#include "engine/compression/segment_compressor.h"
#include "engine/recipes/reducers/shared_entries.h"

namespace winnow {

class SharedEntryMerging : public DecodePolicy {
 public:
  // Group-mean attention that one token got.
  struct TokenScore {
    float global = 0.0F;   // from all rows that saw it
    float past = 0.0F;     // from the last full window of rows
    float current = 0.0F;  // from the rows since
    float local() const { return past + current; }
  };
  struct WindowToken {
    std::int32_t original = 0;
    TokenScore score;
    bool pinned = false;  // never leaves, whatever its age
  };
  struct Head {
    std::vector<TokenScore> table;    // parallel to the cache's table of this head
    std::vector<WindowToken> window;  // the direct slots' tokens, ascending, pinned ones among them
    std::int64_t rows = 0;            // since `past` was closed

    // Direct tokens beside the pinned ones.
    std::int64_t unpinned() const;
  };

  // caps: slots per kv head, at least two more than window and pins, or kNoCap: scores are followed, nothing is shared. heads: [layers *
  // kv_heads].
  SharedEntryMerging(std::int64_t window, const SharingRule& rule, std::vector<std::int64_t> caps, std::int64_t kv_heads,
                     std::vector<Head> heads);

  std::unique_ptr<DecodePolicy> clone() const override { return std::make_unique<SharedEntryMerging>(*this); }
  bool wants_probabilities() const override { return true; }
  void after_layer(KvCache& cache, LayerId layer, const DecodeRow& row, MergeState& state) override;
  bool removes() const override { return *std::min_element(caps_.begin(), caps_.end()) != kNoCap; }
  FollowedTokens retained_attention(const KvCache& cache, LayerId layer, KvHead kv_head, std::int32_t before) const override;
  std::int64_t bytes_metadata() const override;

  const Head& head(LayerId layer, KvHead kv_head) const { return heads_.at(static_cast<std::size_t>(layer * kv_heads_ + kv_head)); }

  // The window's oldest token that is not pinned leaves it: its slot holds a direction from now on.
  static void close_oldest(KvCache& cache, LayerId layer, KvHead kv_head, Head& head, const SharingRule& rule);

 private:
  void follow(const KvCache& cache, LayerId layer, KvHead kv_head, std::span<const float> probabilities, Head& head) const;
  void merge_least(KvCache& cache, LayerId layer, KvHead kv_head, const Head& head) const;
  void shorten(KvCache& cache, LayerId layer, KvHead kv_head, std::int64_t limit, Head& head) const;

  std::int64_t window_;
  SharingRule rule_;
  PerLayer<std::int64_t> caps_;
  std::int64_t kv_heads_;
  std::vector<Head> heads_;
};

// The policy for the answer after a segment: scores from the statistics of its prefill and from what `previous` had gathered; direct slots
// before the window become slots to share. Called by next_decode_policy().
std::unique_ptr<DecodePolicy> next_shared_entry_merging(const DecodePolicy* previous, const SegmentCompressor& compressor, KvCache& cache,
                                                        PerLayer<std::int64_t> caps);

}  // namespace winnow
