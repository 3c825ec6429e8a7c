// Cache slots of a sliding-window layer (KvShape::windows): between steps it holds only tokens that the next one will see. The same calls
// serve layers without a window, which evict nothing.
//
// Used by decoders of engine/models. Such layers have no shared slots (Recipe::misfit). Threads: engine thread.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <span>

#include "engine/base/index.h"
#include "engine/kv_cache/kv_cache.h"
#include "engine/layers/layer_view.h"

namespace winnow {

struct SegmentRows {
  const at::Tensor& key;  // [kv_heads, n, head_dim]
  const at::Tensor& value;
  std::span<const std::int32_t> original;  // n, ascending
  const at::Tensor& positions;             // int64 [axes, n], of the keys' rotation
};

// Adds the segment's slots that are within the window at its end and evicts earlier slots outside it. Slots keep their order.
void append_seen(KvCache& cache, LayerId layer, const SegmentRows& rows);

// After the attention of token `original` in layers from `first` on, one row each: shows them to the observer, if there is one, and evicts
// what the next token does not see. Other slots move as in KvCache::evict(); the observer is called before each eviction.
void finish_layers(KvCache& cache, LayerId first, std::span<const DecodeRow> rows, std::int32_t original, DecodeObserver* observer);

}  // namespace winnow
