// Attention of many query rows over one KV head's contiguous keys and values: causal or unmasked, with the log-sum-exp and, on request,
// each key's probabilities summed over the rows.
//
// Used by engine/layers for prefill and vision towers; knows no framework. The reference is kernels/reference/prefill_attention.cpp, the
// vectorised CPU version kernels/cpu. Calls on separate rows (query, output and log_sum_exp advanced, seen_by_first raised by as many) are
// independent: the caller splits rows among threads, each with its own workspace. Never throws, never allocates. kBadArgument: a missing
// pointer, a size below 1 or an unknown element type. kUnsupported: a head larger than kMaxHeadDim. A row that sees no key gets 0 and a
// log-sum-exp of minus infinity. A NaN that a row reads makes the row NaN. A NaN or infinite value may also damage the rows just before the
// first row that sees it, because they are multiplied together.
#pragma once

#include <cstdint>

#include "kernels/api/element_type.h"

namespace winnow::kernels {

struct PrefillAttentionArgs {
  ElementType type = ElementType::kFp32;  // of query, key, value and output
  // Element i of head h and row r is query[h * query_head_stride + r * query_row_stride + i]; strides in elements.
  const void* query = nullptr;
  std::int64_t query_head_stride = 0;
  std::int64_t query_row_stride = 0;
  std::int64_t group = 0;  // query heads that share the keys
  std::int64_t rows = 0;
  const void* key = nullptr;  // element i of slot j: key[j * key_stride + i]
  std::int64_t key_stride = 0;
  const void* value = nullptr;
  std::int64_t value_stride = 0;
  std::int64_t keys = 0;
  std::int64_t head_dim = 0;
  // Causal: row r sees the first seen_by_first + r keys. Every row sees all if this is at least `keys`. May be negative.
  std::int64_t seen_by_first = 0;
  float scale = 1.0F;
  void* output = nullptr;  // strides as query's
  std::int64_t output_head_stride = 0;
  std::int64_t output_row_stride = 0;
  float* log_sum_exp = nullptr;  // of the scaled logits, natural log; head h, row r at [h * log_sum_exp_stride + r]
  std::int64_t log_sum_exp_stride = 0;
  float* workspace = nullptr;  // prefill_attention_workspace() floats
  // Probabilities summed over the rows: head h, key j at [h * column_sums_stride + j]; all keys are written. Null: not computed.
  float* column_sums = nullptr;
  std::int64_t column_sums_stride = 0;
  float* column_squares = nullptr;  // [keys]: sum over rows of the squared mean over the group; with column_sums, may be null
  float* kept = nullptr;            // prefill_attention_kept() floats; with column_sums
};

// Floats that a call on `rows` rows of `group` heads needs. Keys and values are packed once a call, which pays from 100 rows on.
std::int64_t prefill_attention_workspace(std::int64_t group, std::int64_t rows, std::int64_t head_dim);

// Floats that column sums need beside the workspace, in proportion to the rows and the keys that they see. Reads type, group, rows, keys
// and seen_by_first.
std::int64_t prefill_attention_kept(const PrefillAttentionArgs& args);

LaunchStatus prefill_attention_reference(const PrefillAttentionArgs& args);
// Picks the widest instruction set at run time; equals the reference up to rounding. 16-bit types are upcast to fp32. With AVX-512 BF16,
// bf16 elements are multiplied directly, and probabilities are rounded to bf16 before they weight values (as in libtorch) and before column
// sums. Asking for column sums does not change the output.
LaunchStatus prefill_attention_cpu(const PrefillAttentionArgs& args);

}  // namespace winnow::kernels
