// Attention of one new token over a layer's (ragged) cache on the CPU, read in place: kernels/api/decode_attention.h for every KV head; or
// of a token of each of several conversations. On a GPU: device_decode_attention.h.
//
// Used by engine/models in decode. Allocates O(H * d) a row, independent of the cache's length; long caches of few heads are split between
// threads and merged by log-sum-exp. Rows share the threads, not the splits: each is what it is alone, to the bit. Threads: engine thread
// (runs on libtorch's pool inside). Errors: kInternal if a kernel refuses.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <span>

#include "engine/base/index.h"
#include "engine/kv_cache/kv_cache.h"
#include "engine/layers/layer_view.h"

namespace winnow {

// query: [H, d], after rotary, any float dtype; the token's own K and V are already in the cache. Returns [H, d], dtype of the query.
// row: filled with the token's attention if not null. Heads with shared slots are attended as in shared_entry_attention.h; their rows are
// in the order of runtime tokens (runtime_tokens.h).
at::Tensor decode_attention(const at::Tensor& query, const KvCache& cache, LayerId layer, double scale, DecodeRow* row = nullptr);

struct AttendedRow {
  const KvCache* cache;        // null: zeros come of it
  DecodeRow* shown = nullptr;  // as `row` above
  std::int64_t unseen = 0;     // last slots of every head that belong to tokens after this one
};
// query: [n, H, d], a row's heads contiguous; rows: n, over caches that may differ in slots and in how they store them. Returns [n, H, d].
// Heads with shared slots see all of theirs.
at::Tensor decode_attention(const at::Tensor& query, std::span<const AttendedRow> rows, LayerId layer, double scale);

}  // namespace winnow
