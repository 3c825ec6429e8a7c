#include "engine/compression/statistics/column_totals.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <span>

#include "engine/base/error.h"
#include "engine/base/row_span.h"
#include "engine/compression/statistics/device_logits.h"
#include "engine/device/cuda_plugin.h"
#include "engine/device/host_numbers.h"
#include "engine/device/work_team.h"
#include "engine/kv_cache/element_type.h"
#include "kernels/api/column_sums.h"
#include "kernels/api/cuda_column_sums.h"
#include "kernels/api/cuda_row_sparsity.h"

namespace winnow {

namespace {

constexpr std::int64_t kTaskColumns = 256;

// The rows' queries and log-sum-exp; elements of a row lie side by side.
struct Rows {
  at::Tensor query;        // [H, rows, d]
  at::Tensor log_sum_exp;  // [H, rows] fp32
};

// Columns of one KV head, all or a part.
struct Part {
  const at::Tensor* key = nullptr;  // [columns, d]
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::int64_t seen_by_first = 0;
  float* sums = nullptr;
  std::int64_t sums_stride = 0;
  float* squares = nullptr;
};

// Runs the parts of one KV head's columns, those that many rows see beside those that few do.
void add_head(const LayerView& view, const Rows& rows, KvHead head, std::span<const Part> parts, double* entropy) {
  const std::int64_t group = view.query.size(0) / view.key.size(0);
  const std::int64_t head_dim = view.query.size(2);
  const auto tasks = static_cast<std::int64_t>(parts.size());
  std::vector<double> entropies(entropy != nullptr ? static_cast<std::size_t>(tasks * group) : 0, 0.0);
  std::atomic<std::int64_t> next{0};
  std::atomic<bool> refused{false};
  share_work(std::min<std::int64_t>(tasks, at::get_num_threads()), 1, [&](std::int64_t, std::int64_t) {
    std::vector<float> workspace(static_cast<std::size_t>((kernels::kColumnTile + kernels::kColumnRows) * head_dim));
    for (std::int64_t task = next++; task < tasks; task = next++) {
      const Part& part = parts[static_cast<std::size_t>(task)];
      const auto bytes = static_cast<std::int64_t>(view.query.element_size());
      kernels::ColumnSumsArgs args;
      args.type = element_type(view.query.scalar_type());
      args.query = static_cast<const char*>(rows.query.const_data_ptr()) + head * group * rows.query.stride(0) * bytes;
      args.query_head_stride = rows.query.stride(0);
      args.query_row_stride = rows.query.stride(1);
      args.group = group;
      args.rows = rows.query.size(1);
      args.key = static_cast<const char*>(part.key->const_data_ptr()) + part.first * part.key->stride(0) * bytes;
      args.key_stride = part.key->stride(0);
      args.columns = part.count;
      args.head_dim = head_dim;
      args.seen_by_first = part.seen_by_first;
      args.scale = static_cast<float>(view.scale);
      args.log_sum_exp = rows.log_sum_exp.const_data_ptr<float>() + head * group * rows.log_sum_exp.stride(0);
      args.log_sum_exp_stride = rows.log_sum_exp.stride(0);
      args.sums = part.sums;
      args.sums_stride = part.sums_stride;
      args.squares = part.squares;
      args.entropy = entropies.empty() ? nullptr : entropies.data() + task * group;
      args.workspace = workspace.data();
      if (kernels::column_sums_cpu(args) != kernels::LaunchStatus::kOk) refused = true;
    }
  });
  require(!refused, "the column sums kernel refused its arguments");
  for (std::size_t i = 0; i < entropies.size(); ++i) entropy[i % static_cast<std::size_t>(group)] += entropies[i];
}

// first_seen: columns that the first row sees; more than there are: all rows see all.
void add_parts(std::vector<Part>& parts, const at::Tensor& key, std::int64_t first_seen, float* sums, std::int64_t sums_stride,
               float* squares) {
  for (std::int64_t first = 0; first < key.size(0); first += kTaskColumns) {
    Part part;
    part.key = &key;
    part.first = first;
    part.count = std::min(kTaskColumns, key.size(0) - first);
    part.seen_by_first = first_seen - first;
    part.sums = sums + first;
    part.sums_stride = sums_stride;
    part.squares = squares != nullptr ? squares + first : nullptr;
    parts.push_back(part);
  }
}

// The totals that some KV heads on a GPU add to. Hkv, H: of these heads alone.
struct DeviceTotals {
  at::Tensor sums;     // [H, columns]
  at::Tensor squares;  // [Hkv, columns], or undefined
  at::Tensor entropy;  // H doubles side by side, or undefined
};

// first_seen: as add_parts().
void add_on_device(const Rows& rows, const at::Tensor& keys, std::int64_t first_seen, double scale, const DeviceTotals& totals) {
  kernels::CudaColumnSumsArgs args;
  set_logits(args, rows.query, keys, scale);
  args.seen_by_first = first_seen;
  args.log_sum_exp = rows.log_sum_exp.const_data_ptr<float>();
  args.log_sum_exp_stride = rows.log_sum_exp.stride(0);
  args.sums = totals.sums.mutable_data_ptr<float>();
  args.sums_stride = totals.sums.stride(0);
  if (totals.squares.defined()) {
    args.squares = totals.squares.mutable_data_ptr<float>();
    args.squares_stride = totals.squares.stride(0);
  }
  if (totals.entropy.defined()) args.entropy = totals.entropy.mutable_data_ptr<double>();
  args.parts = kernels::cuda_column_sums_parts(args.rows, args.columns, args.kv_heads, open_cuda().multiprocessors);
  const at::Tensor workspace = at::empty({kernels::cuda_column_sums_workspace(args)}, keys.options().dtype(at::kByte));
  args.workspace = workspace.mutable_data_ptr();
  require_launched(cuda_plugin().column_sums(&args), "column sums");
}

// All heads of the segment at once; of retained slots each head by itself, because it has a number of its own.
void add_columns_on_device(const LayerView& view, const Rows& rows, std::int64_t first_seen, ColumnTotals& totals) {
  add_on_device(rows, with_packed_rows(view.key), first_seen, view.scale, {totals.sums.flatten(0, 1), totals.squares, totals.entropy});
  const std::int64_t group = view.query.size(0) / view.key.size(0);
  for (KvHead head{0}; head < std::ssize(view.past_keys); ++head) {
    const auto h = static_cast<std::size_t>(head);
    const at::Tensor past = with_packed_rows(view.past_keys[h].to(view.query.scalar_type()));
    if (past.size(0) == 0) continue;
    const Rows own{rows.query.narrow(0, head * group, group), rows.log_sum_exp.narrow(0, head * group, group)};
    add_on_device(own, past.unsqueeze(0), past.size(0), view.scale,
                  {totals.past_sums[h], totals.squares.defined() ? totals.past_squares[h].unsqueeze(0) : at::Tensor(),
                   totals.entropy.defined() ? totals.entropy.select(0, head) : at::Tensor()});
  }
}

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

void add_columns(const LayerView& view, std::int64_t first_row, std::int64_t columns_before, ColumnTotals& totals) {
  require(totals.sums.defined() && totals.sums.is_contiguous(), "add_columns: sums of all columns are wanted");
  const std::int64_t count = view.query.size(1) - first_row;
  const Rows rows{with_packed_rows(view.query.narrow(1, first_row, count)),
                  with_packed_rows(view.log_sum_exp.narrow(1, first_row, count).to(at::kFloat))};
  if (!view.query.is_cpu()) return add_columns_on_device(view, rows, columns_before + first_row + 1, totals);
  const at::Tensor keys = with_packed_rows(view.key);
  for (KvHead head{0}; head < view.key.size(0); ++head) {
    const auto h = static_cast<std::size_t>(head);
    const at::Tensor key = keys.select(0, head);
    const at::Tensor past = view.past_keys.empty() ? at::Tensor() : with_packed_rows(view.past_keys[h].to(view.query.scalar_type()));
    std::vector<Part> parts;
    add_parts(parts, key, columns_before + first_row + 1, totals.sums.select(0, head).mutable_data_ptr<float>(), totals.sums.stride(1),
              totals.squares.defined() ? totals.squares.select(0, head).mutable_data_ptr<float>() : nullptr);
    if (past.defined() && past.size(0) > 0) {
      add_parts(parts, past, 2 * past.size(0), totals.past_sums[h].mutable_data_ptr<float>(), totals.past_sums[h].stride(0),
                totals.squares.defined() ? totals.past_squares[h].mutable_data_ptr<float>() : nullptr);
    }
    add_head(view, rows, head, parts, totals.entropy.defined() ? totals.entropy.select(0, head).mutable_data_ptr<double>() : nullptr);
  }
}

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
  SmallEntries small{.maxima = at::full({view.query.size(0), rows}, -std::numeric_limits<float>::infinity(), fp32)};
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
