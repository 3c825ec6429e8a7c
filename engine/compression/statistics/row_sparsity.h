// Counts attention entries that are small relative to their row's largest, by a kernel on the view's GPU (kernels/api/cuda_row_sparsity.h).
//
// Used by attention_statistics(), which counts in tiles without such a kernel. Memory is O(H * rows).
#pragma once

#include <ATen/ATen.h>

#include <cstdint>

#include "engine/layers/layer_view.h"

namespace winnow {

struct SmallEntries {
  at::Tensor counts;  // int64 [Hkv, G]: segment entries that a row sees and that are less than p times the row's largest
  at::Tensor maxima;  // fp32 [H, rows]: the row's largest logit, over retained slots and what it sees of the segment; NaN if one was NaN
};

// For query rows [first_row, end). columns_before: as in add_columns(). The view must be on a GPU and fit (device_logits.h). Does not wait
// for the device: two launches beside zeroing, and one more for every head with retained slots. Errors: kDeviceFailed.
SmallEntries count_small_entries(const LayerView& view, std::int64_t first_row, std::int64_t columns_before, double p);

}  // namespace winnow
