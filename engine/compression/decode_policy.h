// What a method does to the cache while decoding: keeps a cap on every layer, or a share of all tokens seen.
//
// One implementation per way of choosing a slot (decode/). Made after each turn's event by next_decode_policy(), belongs to a conversation
// and is copied with it. Engine thread only.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "engine/compression/compression_event.h"
#include "engine/compression/segment_compressor.h"
#include "engine/kv_cache/kv_cache.h"
#include "engine/layers/layer_view.h"
#include "engine/recipes/recipe.h"

namespace winnow {

class DecodePolicy {
 public:
  static constexpr std::int64_t kNoCap = std::numeric_limits<std::int64_t>::max();

  virtual ~DecodePolicy() = default;
  virtual std::unique_ptr<DecodePolicy> clone() const = 0;
  virtual bool wants_probabilities() const { return false; }
  // After a layer's attention of one decoded token, whose slot is the last of every head.
  virtual void after_layer(KvCache& cache, std::int64_t layer, const DecodeRow& row, MergeState& state) = 0;
  // Bytes that it keeps per slot beside the cache, in all.
  virtual std::int64_t bytes_metadata() const { return 0; }
};

// The policy for the answer that follows a segment, once its plans have been applied to `cache`. Null for methods that only append, for
// scope visual (generated text is no candidate) and for a share of 1. With an absolute budget the cap is what the event over
// the whole cache granted to the layer, or that budget if there was none. With a share, the cap is what the cache holds now: the earlier
// cap plus what was granted to the new segment; as long as no segment has been compressed (short texts) there is no cap. Where slots are
// shared, those before the window are rewritten for it. What the segment's info says is pinned never leaves; a cap is at least the room for
// that.
std::unique_ptr<DecodePolicy> next_decode_policy(const DecodePolicy* previous, const Recipe& recipe, const SegmentCompressor& compressor,
                                                 KvCache& cache);

}  // namespace winnow
