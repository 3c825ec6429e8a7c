// The row sums of attention_statistics(), and the kernels that compute them (kernels/api/column_sums.h, cuda_column_sums.h).
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

#include "engine/layers/layer_view.h"

namespace winnow {

// Undefined or empty if not requested. n: columns of the segment, m: retained slots of a head.
struct ColumnTotals {
  at::Tensor sums;                       // [Hkv, G, n] fp32
  at::Tensor squares;                    // [Hkv, n] fp32, of the group mean
  at::Tensor entropy;                    // [Hkv, G] double
  std::vector<at::Tensor> past_sums;     // per KV head [G, m]
  std::vector<at::Tensor> past_squares;  // per KV head [m]
};

// Adds the attention of query rows [first_row, end). columns_before: the segment's columns before the first query row. totals.sums must be
// defined, and the view fit (device_logits.h). Runs on the work team, with an order of additions that does not depend on its size. On a GPU
// it does not wait: two launches, and two more for every head with retained slots. Errors: kDeviceFailed.
void add_columns(const LayerView& view, std::int64_t first_row, std::int64_t columns_before, ColumnTotals& totals);

}  // namespace winnow
