// Attention that each key receives: its probabilities summed over many causal query rows, recomputed from the rows' log-sum-exp. The n x n
// matrix is never stored.
//
// Used by engine/compression for accumulated attention (H2O, D2O, MEDA, LOOK-M, EMS and others); knows no framework. The reference is
// kernels/reference/column_sums.cpp, the vectorised CPU version kernels/cpu. Never throws, never allocates. Calls on separate columns (key,
// sums and squares advanced, seen_by_first reduced by as many) are independent except for `entropy`. kBadArgument: a missing pointer, a
// negative size or an unknown element type. kUnsupported: more heads or elements than the limits. A NaN logit or log-sum-exp makes every
// result it contributes to NaN.
#pragma once

#include <cstdint>

#include "kernels/api/element_type.h"

namespace winnow::kernels {

inline constexpr std::int64_t kColumnTile = 64;  // largest tile, in columns
inline constexpr std::int64_t kColumnRows = 4;   // and in rows

struct ColumnSumsArgs {
  ElementType type = ElementType::kFp32;  // of query and key
  // Element i of head h and row r is query[h * query_head_stride + r * query_row_stride + i]; strides in elements.
  const void* query = nullptr;
  std::int64_t query_head_stride = 0;
  std::int64_t query_row_stride = 0;
  std::int64_t group = 0;  // query heads that share the keys
  std::int64_t rows = 0;
  const void* key = nullptr;  // element i of column j: key[j * key_stride + i]
  std::int64_t key_stride = 0;
  std::int64_t columns = 0;
  std::int64_t head_dim = 0;
  // Causal: row r sees the first seen_by_first + r columns. Every row sees all if this is at least `columns`. May be negative.
  std::int64_t seen_by_first = 0;
  float scale = 1.0F;
  const float* log_sum_exp = nullptr;  // of the scaled logits, natural log; head h, row r at [h * log_sum_exp_stride + r]
  std::int64_t log_sum_exp_stride = 0;
  float* sums = nullptr;  // head h, column j at [h * sums_stride + j]; added to
  std::int64_t sums_stride = 0;
  float* squares = nullptr;    // [columns]: sum over rows of the squared mean over the group; added to; may be null
  double* entropy = nullptr;   // [group]: -sum p ln p over all rows and these columns; added to; may be null
  float* workspace = nullptr;  // (kColumnTile + kColumnRows) * head_dim floats
};

LaunchStatus column_sums_reference(const ColumnSumsArgs& args);
// Picks the widest instruction set at run time; equals the reference up to rounding.
LaunchStatus column_sums_cpu(const ColumnSumsArgs& args);

}  // namespace winnow::kernels
