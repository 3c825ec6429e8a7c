// Attention over a head with shared slots (kv_cache/shared_entries.h) without expanding them: one dot product per stored slot serves all of
// its tokens, and a slot's value is weighted by the sum of their probabilities.
//
// Used by prefill attention, and by decode attention on the CPU (on a GPU: device_decode_attention.h). Runtime tokens: runtime_tokens.h.
// Letters: R query rows, T runtime tokens, d head size. Memory: O(R * T) fp32 in row tiles of at most kPlainTileElements; keys are expanded
// ([T, d]) only if tokens are rotated at use. EMS, arXiv 2412.08521, section 4.2. Threads: engine thread.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>

#include "engine/base/index.h"
#include "engine/kv_cache/kv_cache.h"

namespace winnow {

struct SharedEntryAttention {
  at::Tensor output;         // [R, d] fp32
  at::Tensor log_sum_exp;    // [R] fp32, natural log
  at::Tensor probabilities;  // [R, T] fp32; undefined if not requested
};

// query: [R, d], after rotary, any float dtype; every row sees all runtime tokens.
SharedEntryAttention shared_entry_attention(const at::Tensor& query, const KvCache& cache, LayerId layer, KvHead kv_head, double scale,
                                            bool with_probabilities = false);

// T of a head, with or without shared slots.
std::int64_t runtime_token_count(const KvCache& cache, LayerId layer, KvHead kv_head);

// The key of every runtime token as attention uses it, fp32 [T, d]; 0 for masked tokens.
at::Tensor runtime_keys(const KvCache& cache, LayerId layer, KvHead kv_head);

}  // namespace winnow
