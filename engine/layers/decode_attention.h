// Attention of one new token over a layer's (ragged) cache, read in place: kernels/api/decode_attention.h for every KV head. On a GPU
// kernels/api/cuda_decode_attention.h serves all heads at once, and cuda_shared_attention.h layers with shared slots.
//
// Used by engine/models in decode. Allocates O(H * d), independent of the cache's length; long caches of few heads are split between
// threads and merged by log-sum-exp. Threads: engine thread (runs on libtorch's pool inside). Errors: kInternal if a kernel refuses,
// kDeviceFailed if the GPU reports an error.
#pragma once

#include <ATen/ATen.h>

#include "engine/base/index.h"
#include "engine/kv_cache/kv_cache.h"
#include "engine/layers/device_probabilities.h"
#include "engine/layers/layer_view.h"

namespace winnow {

// query: [H, d], after rotary, any float dtype; the token's own K and V are already in the cache. Returns [H, d], dtype of the query.
// row: filled with the token's attention if not null. Heads with shared slots are attended as in shared_entry_attention.h; their rows are
// in the order of runtime tokens (runtime_tokens.h).
at::Tensor decode_attention(const at::Tensor& query, const KvCache& cache, LayerId layer, double scale, DecodeRow* row = nullptr);

// The same for a cache on a GPU; probabilities stay there, and nothing waits.
at::Tensor decode_attention_on_device(const at::Tensor& query, const KvCache& cache, LayerId layer, double scale,
                                      DeviceProbabilities* probabilities = nullptr);

}  // namespace winnow
