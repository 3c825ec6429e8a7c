// Decode phase of Elastic Cache and PrefixKV: evicts a slot whenever a layer holds a whole slot more than its share of all tokens seen. The
// slot is a fixed distance before the end of what the event left, or the next unpinned one, else the previous one. Layers keep one set for
// all heads, so all heads evict the same token.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/base/index.h"
#include "engine/base/per_layer.h"
#include "engine/compression/decode_policy.h"
#include "engine/compression/pinned_tokens.h"

namespace winnow {

class RatioRemoval : public DecodePolicy {
 public:
  struct Layer {
    double share = 1.0;            // slots per token seen, of those within the layer's window
    std::int64_t event_slots = 0;  // slots after the event
  };
  // distance: negative, from event_slots; a slot before `fixed_first` is replaced by the middle of what the event left.
  RatioRemoval(std::vector<Layer> layers, std::int64_t distance, std::int64_t fixed_first, std::int64_t kv_heads, PinnedTokens pinned = {})
      : layers_(std::move(layers)), distance_(distance), fixed_first_(fixed_first), kv_heads_(kv_heads), pinned_(std::move(pinned)) {}

  std::unique_ptr<DecodePolicy> clone() const override { return std::make_unique<RatioRemoval>(*this); }
  void after_layers(KvCache& cache, LayerId first, std::span<const DecodeRow> rows, MergeState& state) override;
  const std::vector<Layer>& layers() const { return layers_.values(); }

 private:
  void evict_excess(KvCache& cache, LayerId layer) const;

  PerLayer<Layer> layers_;
  std::int64_t distance_;
  std::int64_t fixed_first_;
  std::int64_t kv_heads_;
  PinnedTokens pinned_;
};

}  // namespace winnow
