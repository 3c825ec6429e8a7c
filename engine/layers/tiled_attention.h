// Attention of many rows on a CPU: kernels/api/prefill_attention.h over row tiles, shared out among threads.
//
// Used by attention.h, and by engine/models where what keys receive is counted on the way. Letters as there: B batch, t rows, m keys, n
// segment tokens, d head size. A call is a tile of rows of all heads that read the same keys. Allocates the result and a workspace for each
// thread, never in proportion to t x m: where received attention is counted, 8 MiB of bf16 or 16 of fp32, more only above 40,000 keys.
// Threads: engine thread (runs on the work team inside). Errors: kInternal for a kernel's refusal.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>

#include "engine/layers/attention.h"
#include "engine/layers/received_attention.h"

namespace winnow {

// False where libtorch's kernel is to be used: for types and head sizes that this one does not take, for 16-bit types where the processor
// has AMX (libtorch uses that), and for so few rows in fp32 that packing the keys does not pay.
bool tiled_attention_takes(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value);

// Shapes as attention_with_lse(). The result's memory has the rows outermost where heads share their keys, and a picture's rows where they
// do not: what callers ask for next is a view of it.
AttentionResult tiled_attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, Mask mask, double scale);

// Rows [first, first + t) of a segment, which see themselves and all before them.
struct CausalRows {
  at::Tensor query;  // [t, H, d]
  at::Tensor key;    // [Hkv, n, d], of which rows 0 .. first + t - 1 are read
  at::Tensor value;  // as key
  std::int64_t first = 0;
  double scale = 1.0;
};

// As tiled_attention_takes(); query as CausalRows has it.
bool causal_attention_takes(const at::Tensor& query, std::int64_t kv_heads);
// Returns output [t, H, d], contiguous, and log_sum_exp [H, t]. Where received.wanted(), adds what keys receive from these rows; the result
// is the same to the bit.
AttentionResult causal_attention(const CausalRows& rows, ReceivedAttention& received);

}  // namespace winnow
