// The slots of a layer that looks back over a window (KvShape::windows): at rest it holds no token that the next one will not see. The same
// calls serve layers without one, from which nothing leaves.
//
// Used by decoders of engine/models. Heads with shared slots are none of these layers' (Recipe::misfit). Threads: engine thread.
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
  const at::Tensor& positions;             // int64 [axes, n], what keys are rotated by
};

// Adds a segment's slots, but for those that the window has passed by at its end; earlier ones that it has passed by leave. Slots keep
// their order.
void append_seen(KvCache& cache, LayerId layer, const SegmentRows& rows);

// After token `original`: drops what the next one does not see. Other slots move as KvCache::evict() moves them; the observer (may be null)
// is told of each that leaves before it does.
void leave_window(KvCache& cache, LayerId layer, std::int32_t original, DecodeObserver* observer);

}  // namespace winnow
