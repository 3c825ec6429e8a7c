// Rows of K or V rounded to what a cache will hold of them (KvStorage).
//
// Used by kv_cache itself and by decoders, whose prefill attends to what will be stored, so that attention, statistics and the cache are
// one. Rounding what was rounded changes nothing. Sixteen bits are fp16 and not bf16: three more bits of fraction, so rounding moves a
// logit by an eighth. What fp16 does not reach, beyond 65,504, is an error and never an infinity that a softmax could swallow. On the CPU.
// Errors: kNumericFailure for a number that fp16 does not reach.
#pragma once

#include <ATen/ATen.h>

#include "engine/kv_cache/kv_cache.h"

namespace winnow {

// In place. rows: [heads, n, head_dim] of the arithmetic type, any strides with a contiguous last dimension.
void round_as_stored(at::Tensor rows, KvStorage storage);

// Rounded to nearest and even, of any shape; numbers that were not finite stay so.
at::Tensor in_half(const at::Tensor& rows);

}  // namespace winnow
