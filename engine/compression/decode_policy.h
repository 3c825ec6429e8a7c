// A method's treatment of the cache while decoding: it keeps a cap on every layer, or a share of all tokens seen; and what merging
// remembers across events and tokens.
//
// One implementation per eviction rule (decode/). Made after each turn's event (next_decode_policy.h), belongs to a conversation and is
// copied with it. Engine thread only.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "engine/base/index.h"
#include "engine/kv_cache/kv_cache.h"
#include "engine/layers/layer_view.h"

namespace winnow {

// State of merging across events and tokens. Belongs to a conversation and is copied with it.

// A kept token and how many tokens events have merged into its slot.
struct MergedInto {
  std::int32_t original = 0;
  std::int32_t tokens = 0;

  friend bool operator==(const MergedInto&, const MergedInto&) = default;
};

struct MergeState {
  // The reducer's threshold per layer and KV head (Reducer::next_threshold); NaN before the first eviction. Empty: none yet.
  std::vector<double> thresholds;
  // Merges of events per layer and KV head, ascending by original index, without zeros. Later merges while decoding are not counted. Empty:
  // no event has merged anything.
  std::vector<std::vector<MergedInto>> merged;

  double& threshold(const KvShape& shape, LayerId layer, KvHead kv_head);
  std::vector<MergedInto>& merged_into(const KvShape& shape, LayerId layer, KvHead kv_head);
};

// Group-mean attention that a token's slot has received so far.
struct FollowedToken {
  float sum = 0.0F;            // from all rows
  float square = 0.0F;         // squares of it; 0 if the policy needs none
  float local_past = 0.0F;     // from the last full window of rows; 0 likewise
  float local_current = 0.0F;  // from the rows since
  std::int32_t rows = 0;       // count of all rows; 0 likewise
};
using FollowedTokens = std::map<std::int32_t, FollowedToken>;  // by original index

class DecodePolicy {
 public:
  static constexpr std::int64_t kNoCap = std::numeric_limits<std::int64_t>::max();

  virtual ~DecodePolicy() = default;
  virtual std::unique_ptr<DecodePolicy> clone() const = 0;
  virtual bool wants_probabilities() const { return false; }
  // Like DecodeObserver::after_layers(). The token's slot is the last of every head.
  virtual void after_layers(KvCache& cache, LayerId first, std::span<const DecodeRow> rows, MergeState& state) = 0;
  // Later in the same step, before a slot outside the layer's window is evicted.
  virtual void leaves_window(LayerId /*layer*/, KvHead /*kv_head*/, std::int64_t /*slot*/) {}
  // False: it only accumulates attention; there is no cap yet, and nothing is evicted.
  virtual bool removes() const { return true; }
  // Its accumulated attention of a head's tokens with an original index below `before`; empty if it accumulates none. cache: the policy's,
  // which may have gained segments from `before` on.
  virtual FollowedTokens retained_attention(const KvCache&, LayerId /*layer*/, KvHead /*kv_head*/, std::int32_t /*before*/) const {
    return {};
  }
  // Total bytes that it keeps per slot beside the cache.
  virtual std::int64_t bytes_metadata() const { return 0; }
};

}  // namespace winnow
