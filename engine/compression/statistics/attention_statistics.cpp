#include "engine/compression/statistics/attention_statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/base/error.h"
#include "engine/compression/statistics/column_totals.h"
#include "engine/compression/statistics/device_logits.h"
#include "engine/compression/statistics/row_sparsity.h"
#include "engine/device/host_copies.h"

namespace winnow {

namespace {

// Scaled queries of rows [first, first + rows) as [Hkv, G * rows, d] fp32.
at::Tensor query_tile(const LayerView& view, std::int64_t kv_heads, std::int64_t first, std::int64_t rows) {
  const at::Tensor q = view.query.narrow(1, first, rows).to(at::kFloat) * view.scale;
  return q.reshape({kv_heads, -1, view.query.size(2)});
}

// Logits of a query tile with segment keys [first, first + count): [Hkv, G, rows, count].
at::Tensor tile_logits(const LayerView& view, const at::Tensor& queries, std::int64_t rows, std::int64_t first, std::int64_t count) {
  const at::Tensor keys = view.key.narrow(1, first, count).to(at::kFloat);
  return at::bmm(queries, keys.transpose(1, 2)).reshape({keys.size(0), -1, rows, count});
}

// True above the diagonal: keys that come after the row. [rows, count]
at::Tensor future_mask(std::int64_t first_row, std::int64_t rows, std::int64_t first_key, std::int64_t count, at::Device device) {
  const auto options = at::TensorOptions().dtype(at::kLong).device(device);
  const at::Tensor row = at::arange(first_row, first_row + rows, options).unsqueeze(1);
  const at::Tensor key = at::arange(first_key, first_key + count, options).unsqueeze(0);
  return key.gt(row);
}

// Of spans whose rows see each other, what comes after a row of the tile: visit() as below, with a mask.
template <class Visit>
void for_later_keys(const LayerView& view, const at::Tensor& queries, std::int64_t first_row, std::int64_t rows, Visit visit) {
  for (const RowSpan& span : view.bidirectional) {
    if (span.end() <= first_row || span.first >= first_row + rows) continue;
    for (std::int64_t key = std::max(span.first, first_row) + 1; key < span.end(); key += kStatisticsKeyTile) {
      const std::int64_t count = std::min(kStatisticsKeyTile, span.end() - key);
      const auto index = at::TensorOptions().dtype(at::kLong).device(view.key.device());
      const at::Tensor row = at::arange(first_row, first_row + rows, index).unsqueeze(1);
      const at::Tensor later = future_mask(first_row, rows, key, count, view.key.device());
      const at::Tensor of_span = row.ge(span.first).logical_and(row.lt(span.end()));
      visit(key, count, tile_logits(view, queries, rows, key, count), later.logical_and(of_span).logical_not());
    }
  }
}

// Calls visit(first key, count, logits, mask or undefined) for every key tile that some row of the tile may see.
template <class Visit>
void for_key_tiles(const LayerView& view, const at::Tensor& queries, std::int64_t first_row, std::int64_t rows, Visit visit) {
  for_later_keys(view, queries, first_row, rows, visit);
  const std::int64_t visible = first_row + rows;
  for (std::int64_t key = 0; key < visible; key += kStatisticsKeyTile) {
    const std::int64_t count = std::min(kStatisticsKeyTile, visible - key);
    at::Tensor mask;
    if (key + count - 1 > first_row) mask = future_mask(first_row, rows, key, count, view.key.device());
    visit(key, count, tile_logits(view, queries, rows, key, count), mask);
  }
}

// Largest logit of every row of the tile over retained slots and visible segment keys: [Hkv, G, rows].
at::Tensor row_maxima(const LayerView& view, const at::Tensor& queries, std::int64_t first_row, std::int64_t rows) {
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  const std::int64_t kv_heads = queries.size(0);
  at::Tensor maxima = at::full({kv_heads, queries.size(1) / rows, rows}, kNone, queries.options());
  for_key_tiles(view, queries, first_row, rows, [&](std::int64_t, std::int64_t, const at::Tensor& logits, const at::Tensor& mask) {
    maxima = at::maximum(maxima, (mask.defined() ? logits.masked_fill(mask, kNone) : logits).amax(3));
  });
  for (std::size_t head = 0; head < view.past_keys.size(); ++head) {
    const auto h = static_cast<std::int64_t>(head);
    const at::Tensor& past = view.past_keys[head];
    for (std::int64_t key = 0; key < past.size(0); key += kStatisticsKeyTile) {
      const at::Tensor keys = past.narrow(0, key, std::min(kStatisticsKeyTile, past.size(0) - key)).to(at::kFloat);
      const at::Tensor highest = at::mm(queries.select(0, h), keys.t()).amax(1).reshape({-1, rows});
      maxima.select(0, h).copy_(at::maximum(maxima.select(0, h), highest));
    }
  }
  return maxima;
}

at::Tensor reduce_group(const at::Tensor& sums, GroupReduce reduce, std::int64_t group_axis) {
  switch (reduce) {
    case GroupReduce::kMaximum:
      return sums.amax(group_axis);
    case GroupReduce::kSum:
      return sums.sum(group_axis);
    case GroupReduce::kMean:
      break;
  }
  return sums.mean(group_axis);
}

// Probabilities of a query tile over one KV head's retained slots, tile by tile: visit(first slot, count, [G, rows, count]).
template <class Visit>
void for_past_tiles(const LayerView& view, const at::Tensor& queries, const at::Tensor& lse, KvHead head, std::int64_t rows, Visit visit) {
  const at::Tensor& past = view.past_keys[static_cast<std::size_t>(head)];
  for (std::int64_t slot = 0; slot < past.size(0); slot += kStatisticsKeyTile) {
    const std::int64_t count = std::min(kStatisticsKeyTile, past.size(0) - slot);
    const at::Tensor keys = past.narrow(0, slot, count).to(at::kFloat);
    visit(slot, count, at::mm(queries.select(0, head), keys.t()).reshape({-1, rows, count}).sub_(lse.select(0, head)));
  }
}

bool is_received(const LayerView& view, const StatisticsNeed& need) {
  const ReceivedNeed wanted = received_need(need);
  if (wanted == ReceivedNeed::kNothing || !view.received.wanted()) return false;
  return wanted == ReceivedNeed::kSums || view.received.squares.defined();
}

}  // namespace

std::vector<double> weighted_columns(const LayerView& view, std::span<const double> weights) {
  const std::int64_t n = view.query.size(1);
  const std::int64_t kv_heads = view.key.size(0);
  const std::int64_t group = view.query.size(0) / kv_heads;
  require(std::ssize(weights) == n, "weighted_columns: a weight per row");
  const auto options = at::TensorOptions().dtype(at::kFloat).device(view.query.device());
  const at::Tensor weight = at::tensor(weights, at::kDouble).to(options);
  at::Tensor sums = at::zeros({n}, options.dtype(at::kDouble));
  // Rows without weight at the start are usual: only the last, or only the text after the images.
  std::int64_t first = 0;
  while (first < n && weights[static_cast<std::size_t>(first)] == 0.0) ++first;
  for (std::int64_t row = first; row < n; row += kStatisticsRowTile) {
    const std::int64_t rows = std::min(kStatisticsRowTile, n - row);
    const at::Tensor queries = query_tile(view, kv_heads, row, rows);
    const at::Tensor lse = view.log_sum_exp.narrow(1, row, rows).to(at::kFloat).reshape({kv_heads, group, rows, 1});
    const at::Tensor tile_weight = weight.narrow(0, row, rows).view({1, 1, rows, 1});
    for_key_tiles(view, queries, row, rows, [&](std::int64_t key, std::int64_t count, at::Tensor logits, const at::Tensor& mask) {
      at::Tensor probabilities = logits.sub_(lse).exp_();
      if (mask.defined()) probabilities.masked_fill_(mask, 0.0);
      sums.narrow(0, key, count).add_(probabilities.mul_(tile_weight).sum({0, 1, 2}, false, at::kDouble));
    });
  }
  sums.div_(static_cast<double>(view.query.size(0)));
  const at::Tensor host = sums.to(at::kCPU).contiguous();
  return {host.const_data_ptr<double>(), host.const_data_ptr<double>() + n};
}

ReceivedNeed received_need(const StatisticsNeed& need) {
  const bool sums = need.column_sums || need.head_variance;
  if (need.rows != RowRule::all() || need.row_entropy || need.sparsity_p || !(sums || need.column_squares)) return ReceivedNeed::kNothing;
  return need.column_squares ? ReceivedNeed::kSquares : ReceivedNeed::kSums;
}

RowStatistics attention_statistics(const LayerView& view, const SegmentInfo& segment, const StatisticsNeed& need) {
  const std::int64_t n = segment.tokens;
  const std::int64_t without_query = segment.first_row;
  const std::int64_t heads = view.query.size(0);
  const std::int64_t kv_heads = view.key.size(0);
  require(view.query.size(1) + without_query == n && view.key.size(1) == n && heads % kv_heads == 0,
          "attention_statistics: the view is not of this segment");
  require(view.past_keys.empty() || static_cast<std::int64_t>(view.past_keys.size()) == kv_heads,
          "attention_statistics: retained keys must be given per kv head");
  const std::int64_t group = heads / kv_heads;
  const auto fp32 = at::TensorOptions().dtype(at::kFloat).device(view.query.device());

  RowStatistics result;
  result.rows = need.rows;
  result.reduce = need.reduce;
  const bool wants_probabilities = need.column_sums || need.head_variance || need.column_squares || need.row_entropy;
  ColumnTotals totals;
  const bool received = is_received(view, need) && view.past_keys.empty() && without_query == 0;
  if (received) {
    totals.sums = view.received.sums.to(at::kFloat).view({kv_heads, group, n});
    if (need.column_squares) totals.squares = view.received.squares.to(at::kFloat);
  } else {
    if (wants_probabilities) totals.sums = at::zeros({kv_heads, group, n}, fp32);
    if (need.column_squares) totals.squares = at::zeros({kv_heads, n}, fp32);
  }
  if (need.row_entropy) totals.entropy = at::zeros({kv_heads, group}, fp32.dtype(at::kDouble));
  for (const at::Tensor& past : view.past_keys) {
    totals.past_sums.push_back(at::zeros({group, past.size(0)}, fp32));
    if (need.column_squares) totals.past_squares.push_back(at::zeros({past.size(0)}, fp32));
  }

  const std::int64_t first = std::max(without_query, rows_of(need.rows, segment).first);
  result.row_count = n - first;
  const bool small_by_kernel = need.sparsity_p && view.query.is_cuda() && fits_kernels(view);
  const bool small_in_tiles = need.sparsity_p && !small_by_kernel;
  SmallEntries small;
  if (small_by_kernel) small = count_small_entries(view, first - without_query, without_query, *need.sparsity_p);
  if (small_in_tiles) small.counts = at::zeros({kv_heads, group}, fp32.dtype(at::kLong));
  bool finite = true;
  const bool sums_by_kernel = wants_probabilities && !received && !small_in_tiles && fits_kernels(view);
  if (sums_by_kernel) add_columns(view, first - without_query, without_query, totals);  // of keys up to the row
  const bool sums_in_tiles = wants_probabilities && !received && !(sums_by_kernel && view.bidirectional.empty());
  for (std::int64_t row = first; row < n && (sums_in_tiles || small_in_tiles); row += kStatisticsRowTile) {
    const std::int64_t rows = std::min(kStatisticsRowTile, n - row);
    const at::Tensor queries = query_tile(view, kv_heads, row - without_query, rows);
    at::Tensor lse;
    if (wants_probabilities) lse = view.log_sum_exp.narrow(1, row - without_query, rows).to(at::kFloat).reshape({kv_heads, group, rows, 1});
    at::Tensor threshold;
    if (small_in_tiles) {
      const at::Tensor maxima = row_maxima(view, queries, row, rows);
      finite = finite && at::isfinite(maxima).all().item<bool>();
      threshold = (maxima + std::log(*need.sparsity_p)).unsqueeze(3);
    }
    const auto add = [&](std::int64_t key, std::int64_t count, at::Tensor logits, const at::Tensor& mask) {
      if (small_in_tiles) {
        at::Tensor below = logits.lt(threshold);
        if (mask.defined()) below.masked_fill_(mask, false);
        small.counts +=
            below.sum({2, 3}, false, at::kInt);  // summing booleans copies them into the type of the sum: the smaller the better
      }
      if (!wants_probabilities) return;
      const at::Tensor log_probabilities = logits.sub_(lse);
      at::Tensor probabilities = need.row_entropy ? log_probabilities.exp() : log_probabilities.exp_();
      if (mask.defined()) probabilities.masked_fill_(mask, 0.0);
      if (need.row_entropy) totals.entropy.sub_(probabilities.mul(log_probabilities).sum({2, 3}, false, at::kDouble));
      totals.sums.narrow(2, key, count).add_(probabilities.sum(2));
      if (need.column_squares) totals.squares.narrow(1, key, count).add_(probabilities.mean(1).square_().sum(1));
    };
    if (sums_by_kernel) {
      for_later_keys(view, queries, row, rows, add);
      continue;
    }
    for_key_tiles(view, queries, row, rows, add);
    if (!wants_probabilities) continue;
    for (KvHead head{0}; head < static_cast<std::int64_t>(view.past_keys.size()); ++head) {
      const auto h = static_cast<std::size_t>(head);
      for_past_tiles(view, queries, lse, head, rows, [&](std::int64_t slot, std::int64_t count, const at::Tensor& log_probabilities) {
        const at::Tensor probabilities = log_probabilities.exp();
        if (need.row_entropy) totals.entropy.select(0, head).sub_(probabilities.mul(log_probabilities).sum({1, 2}, false, at::kDouble));
        totals.past_sums[h].narrow(1, slot, count).add_(probabilities.sum(1));
        if (need.column_squares) totals.past_squares[h].narrow(0, slot, count).add_(probabilities.mean(0).square_().sum(0));
      });
    }
  }

  HostCopies copies;
  std::vector<double> entropy;
  std::vector<std::int64_t> all_finite;
  if (need.column_sums) {
    result.column_sums = {kv_heads, n, {}};
    copies.add(reduce_group(totals.sums, need.reduce, 1), result.column_sums.values);
    result.past_sums.resize(totals.past_sums.size());
    for (std::size_t head = 0; head < totals.past_sums.size(); ++head)
      copies.add(reduce_group(totals.past_sums[head], need.reduce, 0), result.past_sums[head]);
  }
  if (need.column_squares) {
    result.column_squares = {kv_heads, n, {}};
    copies.add(totals.squares, result.column_squares.values);
    result.past_squares.resize(totals.past_squares.size());
    for (std::size_t head = 0; head < totals.past_squares.size(); ++head) copies.add(totals.past_squares[head], result.past_squares[head]);
  }
  if (need.head_variance) copies.add(totals.sums.to(at::kDouble).var(at::IntArrayRef{2}, /*unbiased=*/false), result.head_variance);
  if (need.row_entropy) copies.add(totals.entropy.mean(), entropy);
  if (need.sparsity_p) copies.add(small.counts, result.zero_counts);
  if (small_by_kernel) copies.add(at::isfinite(small.maxima).all().to(at::kLong), all_finite);
  copies.fetch();

  if (need.row_entropy) result.row_entropy = entropy.front() / static_cast<double>(n - first);
  if (need.sparsity_p) {
    if (small_by_kernel) finite = all_finite.front() != 0;
    // Sum over rows of (i + 1), and of what they see behind them.
    double allowed = 0.5 * static_cast<double>(n - first) * static_cast<double>(n + first + 1);
    for (const RowSpan& span : view.bidirectional) {
      const auto later = static_cast<double>(std::max<std::int64_t>(0, span.end() - std::max(span.first, first)));
      allowed += 0.5 * later * (later - 1.0);
    }
    double total = 0.0;
    for (const std::int64_t count : result.zero_counts) total += static_cast<double>(count) / allowed;
    result.sparsity = finite ? total / static_cast<double>(heads) : std::numeric_limits<double>::quiet_NaN();
  }
  return result;
}

}  // namespace winnow
