#include "engine/compression/statistics/row_sparsity.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "engine/base/row_span.h"
#include "engine/compression/statistics/device_logits.h"
#include "engine/device/cuda_plugin.h"
#include "engine/device/host_numbers.h"
#include "kernels/api/cuda_row_sparsity.h"

namespace winnow {

namespace {

// The columns are [0, key.size(1)), all of them seen unless seen_by_first says otherwise.
kernels::CudaSeenLogits seen_logits(const at::Tensor& query, const at::Tensor& key, double scale) {
  kernels::CudaSeenLogits logits;
  set_logits(logits, query, key, scale);
  logits.seen_by_first = logits.columns;
  logits.parts = kernels::cuda_logit_parts(logits.columns, logits.rows * logits.group, logits.kv_heads, open_cuda().multiprocessors);
  return logits;
}

void raise_maxima(const kernels::CudaSeenLogits& logits, const at::Tensor& maxima) {
  kernels::CudaRowMaximaArgs args;
  static_cast<kernels::CudaSeenLogits&>(args) = logits;
  args.maxima = maxima.mutable_data_ptr<float>();
  args.maxima_stride = maxima.stride(0);
  require_launched(cuda_plugin().row_maxima(&args), "row maxima");
}

// Columns that each of the rows sees, where some see what comes after them: up to the end of their span.
at::Tensor columns_seen(const LayerView& view, std::int64_t first, std::int64_t rows) {
  std::vector<std::int32_t> seen;
  for (std::int64_t row = first; row < first + rows; ++row) {
    const RowSpan* const span = span_of(view.bidirectional, row);
    seen.push_back(static_cast<std::int32_t>(span != nullptr ? span->end() : row + 1));
  }
  return numbers_on(view.query.device(), seen);
}

}  // namespace

SmallEntries count_small_entries(const LayerView& view, std::int64_t first_row, std::int64_t columns_before, double p) {
  const std::int64_t rows = view.query.size(1) - first_row;
  const std::int64_t kv_heads = view.key.size(0);
  const std::int64_t group = view.query.size(0) / kv_heads;
  const at::Tensor query = with_packed_rows(view.query.narrow(1, first_row, rows));
  const at::Tensor key = with_packed_rows(view.key);
  const at::Tensor seen = view.bidirectional.empty() ? at::Tensor() : columns_seen(view, columns_before + first_row, rows);
  kernels::CudaSeenLogits logits = seen_logits(query, key, view.scale);
  logits.seen_by_first = columns_before + first_row + 1;
  if (seen.defined()) logits.seen = seen.const_data_ptr<std::int32_t>();

  const auto fp32 = query.options().dtype(at::kFloat);
  SmallEntries small;
  small.maxima = at::full({view.query.size(0), rows}, -std::numeric_limits<float>::infinity(), fp32);
  raise_maxima(logits, small.maxima);
  for (KvHead head{0}; head < std::ssize(view.past_keys); ++head) {
    const at::Tensor past = with_packed_rows(view.past_keys[static_cast<std::size_t>(head)].to(query.scalar_type()));
    if (past.size(0) == 0) continue;
    raise_maxima(seen_logits(query.narrow(0, head * group, group), past.unsqueeze(0), view.scale),
                 small.maxima.narrow(0, head * group, group));
  }

  small.counts = at::zeros({kv_heads, group}, fp32.dtype(at::kLong));
  kernels::CudaCountBelowArgs args;
  static_cast<kernels::CudaSeenLogits&>(args) = logits;
  args.maxima = small.maxima.const_data_ptr<float>();
  args.maxima_stride = small.maxima.stride(0);
  args.below = static_cast<float>(std::log(p));
  args.counts = small.counts.mutable_data_ptr<std::int64_t>();
  require_launched(cuda_plugin().count_below(&args), "sparsity");
  return small;
}

}  // namespace winnow
