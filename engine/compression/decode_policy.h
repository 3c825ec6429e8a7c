// What a method does to the cache while decoding: keeps a cap on every layer, or a share of all tokens seen.
//
// One implementation per way of choosing a slot (decode/). Made after each turn's event (next_decode_policy.h), belongs to a conversation
// and is copied with it. Engine thread only.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "engine/base/index.h"
#include "engine/compression/merge_state.h"
#include "engine/kv_cache/kv_cache.h"
#include "engine/layers/layer_view.h"

namespace winnow {

// What a token's slot has got so far from the rows that met it: group-mean attention.
struct FollowedToken {
  float sum = 0.0F;            // from all rows
  float square = 0.0F;         // squares of it; 0 where the policy needs none
  float local_past = 0.0F;     // from the last full window of rows; 0 likewise
  float local_current = 0.0F;  // from the rows since
  std::int32_t rows = 0;       // number of all rows; 0 likewise
};
using FollowedTokens = std::map<std::int32_t, FollowedToken>;  // by original index

class DecodePolicy {
 public:
  static constexpr std::int64_t kNoCap = std::numeric_limits<std::int64_t>::max();

  virtual ~DecodePolicy() = default;
  virtual std::unique_ptr<DecodePolicy> clone() const = 0;
  virtual bool wants_probabilities() const { return false; }
  // After a layer's attention of one decoded token, whose slot is the last of every head.
  virtual void after_layer(KvCache& cache, LayerId layer, const DecodeRow& row, MergeState& state) = 0;
  // The same for all layers of a step at once, as a GPU shows them: what is done for several heads together is one launch there.
  virtual void after_layers(KvCache& cache, std::span<const DecodeRow> rows, MergeState& state) {
    for (LayerId layer{0}; const DecodeRow& row : rows) {
      after_layer(cache, layer, row, state);
      ++layer;
    }
  }
  // Later in the same step: the slot is about to be evicted, because the layer's window passes it by.
  virtual void leaves_window(LayerId /*layer*/, KvHead /*kv_head*/, std::int64_t /*slot*/) {}
  // False: it follows attention until there is something to hold to; nothing leaves yet.
  virtual bool removes() const { return true; }
  // What it knows of a head's tokens with an original index below `before`; empty if it follows nobody's attention. cache: the policy's, to
  // which segments that begin at `before` may have been added since.
  virtual FollowedTokens retained_attention(const KvCache&, LayerId /*layer*/, KvHead /*kv_head*/, std::int32_t /*before*/) const {
    return {};
  }
  // Bytes that it keeps per slot beside the cache, in all.
  virtual std::int64_t bytes_metadata() const { return 0; }
};

}  // namespace winnow
