// attention_with_lse() on a CPU: kernels/api/prefill_attention.h over row tiles, shared out among threads.
//
// Used by attention.h alone. Letters as there: B batch, t rows, m keys, d head size. A call is a tile of rows of all heads that read the
// same keys. Allocates the result and a workspace for each thread, never in proportion to t x m. Threads: engine thread (runs on libtorch's
// pool inside). Errors: kInternal for a kernel's refusal.
#pragma once

#include <ATen/ATen.h>

#include "engine/layers/attention.h"

namespace winnow {

// False where libtorch's kernel is to be used: for types and head sizes that this one does not take, for 16-bit types where the processor
// has AMX (libtorch uses that), and for so few rows in fp32 that packing the keys does not pay.
bool tiled_attention_takes(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value);

// Shapes as attention_with_lse(). The result's memory has the rows outermost where heads share their keys, and a picture's rows where they
// do not: what callers ask for next is a view of it.
AttentionResult tiled_attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, Mask mask, double scale);

}  // namespace winnow
