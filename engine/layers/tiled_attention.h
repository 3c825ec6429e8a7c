// Attention of many rows on a CPU: kernels/api/prefill_attention.h over row tiles, split among threads.
//
// Used by attention.h, and by engine/models if received attention is accumulated. Letters as there: B batch, t rows, m keys, n segment
// tokens, d head size. A call is a tile of rows of all heads that share keys. Allocates the result and a workspace a thread, independent of
// t x m. Accumulating received attention takes 8 MiB in bf16 or 16 in fp32, more only above 40,000 keys. Threads: engine thread (runs on
// the work team inside). Errors: kInternal if a kernel refuses.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>

#include "engine/layers/attention.h"
#include "engine/layers/layer_view.h"

namespace winnow {

// False where libtorch's kernel is better: unsupported types and head sizes, 16-bit types on processors with AMX (which libtorch uses), and
// too few fp32 rows for packing the keys to pay.
bool tiled_attention_takes(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value);

// Shapes as attention_with_lse(). In memory rows are outermost if all heads share keys, else batch, then rows: the caller's next reshape is
// a view.
AttentionResult tiled_attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, Mask mask, double scale);

// Causal rows [first, first + t) of a segment.
struct CausalRows {
  at::Tensor query;  // [t, H, d]
  at::Tensor key;    // [Hkv, n, d], of which rows 0 .. first + t - 1 are read
  at::Tensor value;  // as key
  std::int64_t first = 0;
  double scale = 1.0;
};

// Like tiled_attention_takes(), with the query as in CausalRows.
bool causal_attention_takes(const at::Tensor& query, std::int64_t kv_heads);
// Returns output [t, H, d], contiguous, and log_sum_exp [H, t]. If received.wanted(), adds what keys receive from these rows; the output's
// bits do not change.
AttentionResult causal_attention(const CausalRows& rows, ReceivedAttention& received);

}  // namespace winnow
