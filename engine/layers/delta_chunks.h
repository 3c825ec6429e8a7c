// The gated delta rule by products of matrices, a chunk of tokens at a time: for devices that take a product of many rows as fast as of
// one.
//
// Used by gated_delta.h on a GPU. Within a chunk the corrections of its tokens are the solution of a triangular system (transformers'
// torch_chunk_gated_delta_rule); a single token has none. Equals kernels/api/gated_delta.h up to rounding. Threads: engine thread.
#pragma once

#include <ATen/ATen.h>

#include "engine/layers/delta_rows.h"

namespace winnow {

// memory: fp32 [value_heads, key_dim, value_dim], changed in place. Returns fp32 [t, value_heads, value_dim].
at::Tensor delta_by_chunks(const DeltaRows& rows, at::Tensor& memory);

}  // namespace winnow
