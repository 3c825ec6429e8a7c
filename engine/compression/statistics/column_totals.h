// The row sums and the counts of small entries of attention_statistics(), and the kernels that compute them (kernels/api/column_sums.h,
// cuda_column_sums.h, cuda_row_sparsity.h).
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

#include "engine/layers/layer_view.h"

namespace winnow {

// Undefined or empty if not requested. n: columns of the segment, m: retained slots of a head.
struct ColumnTotals {
  at::Tensor sums;                         // [Hkv, G, n] fp32
  at::Tensor squares{};                    // [Hkv, n] fp32, of the group mean
  at::Tensor entropy{};                    // [Hkv, G] double
  std::vector<at::Tensor> past_sums{};     // per KV head [G, m]
  std::vector<at::Tensor> past_squares{};  // per KV head [m]
};

// Adds the attention of query rows [first_row, end). columns_before: the segment's columns before the first query row. totals.sums must be
// defined, and the view fit (device_logits.h). Runs on the work team, with an order of additions that does not depend on its size. On a GPU
// it does not wait: two launches, and two more for every head with retained slots. Errors: kDeviceFailed.
void add_columns(const LayerView& view, std::int64_t first_row, std::int64_t columns_before, ColumnTotals& totals);

// Counts attention entries that are small relative to their row's largest, by a kernel on the view's GPU (kernels/api/cuda_row_sparsity.h).
//
// Memory is O(H * rows).
struct SmallEntries {
  at::Tensor counts{};  // int64 [Hkv, G]: segment entries that a row sees and that are less than p times the row's largest
  at::Tensor maxima;    // fp32 [H, rows]: the row's largest logit, over retained slots and what it sees of the segment; NaN if one was NaN
};

// For query rows [first_row, end). columns_before: as in add_columns(). The view must be on a GPU and fit (device_logits.h). Does not wait
// for the device: two launches beside zeroing, and one more for every head with retained slots. Errors: kDeviceFailed.
SmallEntries count_small_entries(const LayerView& view, std::int64_t first_row, std::int64_t columns_before, double p);

}  // namespace winnow
