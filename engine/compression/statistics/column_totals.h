// What attention_statistics() adds up over the rows, and the kernels that do it (kernels/api/column_sums.h, cuda_column_sums.h).
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

#include "engine/layers/layer_view.h"

namespace winnow {

// Undefined or empty where nobody asked. n: columns of the segment, m: retained slots of a head.
struct ColumnTotals {
  at::Tensor sums;                       // [Hkv, G, n] fp32
  at::Tensor squares;                    // [Hkv, n] fp32, of the group mean
  at::Tensor entropy;                    // [Hkv, G] double
  std::vector<at::Tensor> past_sums;     // per KV head [G, m]
  std::vector<at::Tensor> past_squares;  // per KV head [m]
};

// Adds the attention of query rows [first_row, end). columns_before: of the segment's columns, those before the first query (they have none
// of their own). totals.sums must be defined, and the view fit (device_logits.h). Runs on the work team, where the order of additions does
// not depend on how many there are, or on the view's GPU without waiting for it: two launches, and two more for every head with retained
// slots. Errors: kDeviceFailed.
void add_columns(const LayerView& view, std::int64_t first_row, std::int64_t columns_before, ColumnTotals& totals);

}  // namespace winnow
