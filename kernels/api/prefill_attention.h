// Attention of many query rows over one kv head's keys and values that lie row by row: causal or unmasked, with the log-sum-exp and, where
// they are wanted, the sums over the rows of what every key receives.
//
// Used by engine/layers for prefill and vision towers; knows no framework. The reference is kernels/reference/prefill_attention.cpp, the
// vectorised CPU version kernels/cpu. Calls on parts of the rows (query, output and log_sum_exp moved on, seen_by_first more by as
// many) are independent of each other: the caller shares them out among threads, each with a workspace of its own. Never throws, never
// allocates. kBadArgument: a missing pointer, a size below 1 or an unknown element type. kUnsupported: a head larger than kMaxHeadDim. A
// row that sees no key gets 0 and a log-sum-exp of minus infinity. Damage stays visible: a NaN among what a row reads makes it NaN; a value
// that is not finite may also damage the rows just before the first that sees it, for they are multiplied together.
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
  const void* key = nullptr;  // of slot j: key[j * key_stride + i]
  std::int64_t key_stride = 0;
  const void* value = nullptr;
  std::int64_t value_stride = 0;
  std::int64_t keys = 0;
  std::int64_t head_dim = 0;
  // Row r sees the first seen_by_first + r keys: causal. At least `keys`: every row sees all. May be negative.
  std::int64_t seen_by_first = 0;
  float scale = 1.0F;
  void* output = nullptr;  // strides as query's
  std::int64_t output_head_stride = 0;
  std::int64_t output_row_stride = 0;
  float* log_sum_exp = nullptr;  // of the scaled logits, natural log: head h, row r at [h * log_sum_exp_stride + r]
  std::int64_t log_sum_exp_stride = 0;
  float* workspace = nullptr;  // prefill_attention_workspace() floats
  // Of head h and key j the sum of its probabilities over the rows: [h * column_sums_stride + j]; all keys are written. Null: not wanted.
  float* column_sums = nullptr;
  std::int64_t column_sums_stride = 0;
  float* column_squares = nullptr;  // [keys]: sum over rows of the squared mean over the group; with column_sums, may be null
  float* kept = nullptr;            // prefill_attention_kept() floats; with column_sums
};

// How many floats a call on so many rows of `group` heads needs. Keys and values are packed once for all of them: 100 and more pay for it.
std::int64_t prefill_attention_workspace(std::int64_t group, std::int64_t rows, std::int64_t head_dim);

// How many floats column sums take beside the workspace: in proportion to the rows of the call and the keys that they see. Read of args:
// type, group, rows, keys, seen_by_first.
std::int64_t prefill_attention_kept(const PrefillAttentionArgs& args);

LaunchStatus prefill_attention_reference(const PrefillAttentionArgs& args);
// Chooses the widest instruction set at run time; equal to the reference up to rounding. Where the processor multiplies pairs of bf16
// (AVX-512 BF16) they are multiplied as they are, and probabilities are rounded to bf16 before they meet values, as libtorch does, and
// before they are added up for a key; elsewhere 16-bit types are upcast to fp32. Column sums change nothing else of the result.
LaunchStatus prefill_attention_cpu(const PrefillAttentionArgs& args);

}  // namespace winnow::kernels
