// Decode phase of EMS: all slots except a window of recent tokens are shared. A token that leaves the window becomes its own shared slot,
// and the slot with the lowest score is merged into its nearest one or masked. Pinned tokens keep direct slots. EMS, arXiv 2412.08521,
// section 4.2.
//
// It edits the cache's look-up tables, and keeps per token the attention from all rows and from the last ones. O(tokens) per
// decoded token and head, and the similarity of one slot with all others per merge. On a GPU, which reports all layers of a step together,
// all heads' tokens leave the window in one launch and merge in another, and the host waits once for both.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
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
  // Group-mean attention that one token received.
  struct TokenScore {
    float global = 0.0F;   // from all rows that saw it
    float past = 0.0F;     // from the last full window of rows
    float current = 0.0F;  // from the rows since
    float local() const { return past + current; }
  };
  struct WindowToken {
    std::int32_t original = 0;
    TokenScore score;
    bool pinned = false;  // never leaves the window
  };
  struct Head {
    std::vector<TokenScore> table;    // parallel to the cache's table of this head
    std::vector<WindowToken> window;  // the direct slots' tokens, ascending, pinned ones among them
    std::int64_t rows = 0;            // since `past` was closed

    // Unpinned direct tokens.
    std::int64_t unpinned() const;
  };

  // caps: slots per KV head, at least two more than window and pins, or kNoCap: accumulates scores, shares nothing. heads: [layers *
  // kv_heads].
  SharedEntryMerging(std::int64_t window, const SharingRule& rule, std::vector<std::int64_t> caps, std::int64_t kv_heads,
                     std::vector<Head> heads);

  std::unique_ptr<DecodePolicy> clone() const override { return std::make_unique<SharedEntryMerging>(*this); }
  bool wants_probabilities() const override { return true; }
  void after_layers(KvCache& cache, LayerId first, std::span<const DecodeRow> rows, MergeState& state) override;
  bool removes() const override { return *std::min_element(caps_.begin(), caps_.end()) != kNoCap; }
  FollowedTokens retained_attention(const KvCache& cache, LayerId layer, KvHead kv_head, std::int32_t before) const override;
  std::int64_t bytes_metadata() const override;

  const Head& head(LayerId layer, KvHead kv_head) const { return heads_.at(static_cast<std::size_t>(layer * kv_heads_ + kv_head)); }

 private:
  // A head that may exceed its cap, while a step's evictions are made.
  struct Full {
    LayerId layer;
    KvHead kv_head;
    std::vector<float> scores{};  // of its table, or of an earlier, longer one
  };
  // Its slot with the lowest total score.
  struct Least {
    const Full* head = nullptr;
    std::size_t slot = 0;
    std::vector<double> total{};         // per slot: scores of its tokens
    std::vector<std::int32_t> oldest{};  // per slot: index of its oldest token in the table; negative: none
  };
  void follow(const KvCache& cache, LayerId layer, KvHead kv_head, std::span<const float> probabilities, Head& head) const;
  std::vector<Full> full_heads(LayerId first, std::int64_t layers) const;
  const std::vector<float>& scores_of(Full& full) const;
  std::vector<Least> least_slots(const KvCache& cache, std::vector<Full>& heads) const;
  void merge(KvCache& cache, const Least& least, const MergePair& similar) const;
  std::int64_t longest_table(const Full& full) const;
  std::optional<std::int32_t> take_out(KvCache& cache, Full& full);
  void shorten(KvCache& cache, std::vector<Full>& heads);
  Head& head_of(const Full& full) { return heads_[static_cast<std::size_t>(full.layer * kv_heads_ + full.kv_head)]; }

  std::int64_t window_;
  SharingRule rule_;
  PerLayer<std::int64_t> caps_;
  std::int64_t kv_heads_;
  std::vector<Head> heads_;
};

// The policy for the answer after a segment: scores from its prefill's statistics and from `previous`; direct slots before the window
// become shared slots. Called by next_decode_policy().
std::unique_ptr<DecodePolicy> next_shared_entry_merging(const DecodePolicy* previous, const SegmentCompressor& compressor, KvCache& cache,
                                                        PerLayer<std::int64_t> caps);

}  // namespace winnow
