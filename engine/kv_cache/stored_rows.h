// Rows of K or V rounded as a cache of 16 bits will store them (KvStorage).
//
// Used by kv_cache itself and by decoders, whose prefill attends to the rounded rows, so that attention, statistics and cache agree. Rows
// that will be codes are not rounded: every token of a segment sees those just before it as they are.
// Rounding twice changes nothing. 16-bit storage is fp16, not bf16: its three more fraction bits make a logit's rounding error an eighth.
// Values beyond 65,504 are an error, never an infinity that a softmax could hide. On the CPU. Errors: kNumericFailure for a value out of
// fp16's range.
#pragma once

#include <ATen/ATen.h>

#include "engine/kv_cache/kv_cache.h"

namespace winnow {

// In place; what is stored wide or as codes stays. rows: [heads, n, head_dim] of the arithmetic type, any strides with a contiguous last
// dimension.
void round_as_stored(at::Tensor rows, KvStorage storage);

// Rounded to nearest, ties to even, of any shape; NaN and infinity stay.
at::Tensor in_half(const at::Tensor& rows);

}  // namespace winnow
