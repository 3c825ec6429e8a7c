#include "engine/compression/statistics/attention_statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/base/error.h"
#include "engine/compression/statistics/column_totals.h"
#include "engine/compression/statistics/device_logits.h"
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

// For spans whose rows see each other, what comes after a row of the tile: visit() as below, with a mask.
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
    case GroupReduce::kMaximum: return sums.amax(group_axis);
    case GroupReduce::kSum: return sums.sum(group_axis);
    case GroupReduce::kMean: break;
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

// The pass over the rows that are judged: totals in tiles or by kernels, then one copy to the host. `need` and the view outlive it.
class RowPass {
 public:
  RowPass(const LayerView& view, const SegmentInfo& segment, const StatisticsNeed& need)
      : view_(view),
        need_(need),
        tokens_(segment.tokens),
        without_query_(segment.first_row),
        first_(std::max(without_query_, rows_of(need.rows, segment).first)),
        kv_heads_(view.key.size(0)),
        group_(view.query.size(0) / kv_heads_),
        fp32_(at::TensorOptions().dtype(at::kFloat).device(view.query.device())),
        wants_probabilities_(need.column_sums || need.head_variance || need.column_squares || need.row_entropy),
        received_(is_received(view, need) && view.past_keys.empty() && without_query_ == 0),
        small_by_kernel_(need.sparsity_p && view.query.is_cuda() && fits_kernels(view)),
        small_in_tiles_(need.sparsity_p && !small_by_kernel_),
        sums_by_kernel_(wants_probabilities_ && !received_ && !small_in_tiles_ && fits_kernels(view)) {
    require(view.query.size(1) + without_query_ == tokens_ && view.key.size(1) == tokens_ && view.query.size(0) % kv_heads_ == 0,
            "attention_statistics: the view is not of this segment");
    require(view.past_keys.empty() || static_cast<std::int64_t>(view.past_keys.size()) == kv_heads_,
            "attention_statistics: retained keys must be given per kv head");
  }

  RowStatistics run() {
    begin();
    const bool sums_in_tiles = wants_probabilities_ && !received_ && !(sums_by_kernel_ && view_.bidirectional.empty());
    for (std::int64_t row = first_; row < tokens_ && (sums_in_tiles || small_in_tiles_); row += kStatisticsRowTile)
      add_rows(row, std::min(kStatisticsRowTile, tokens_ - row));
    return fetched();
  }

 private:
  void begin() {
    if (received_) {
      totals_.sums = view_.received.sums.to(at::kFloat).view({kv_heads_, group_, tokens_});
      if (need_.column_squares) totals_.squares = view_.received.squares.to(at::kFloat);
    } else {
      if (wants_probabilities_) totals_.sums = at::zeros({kv_heads_, group_, tokens_}, fp32_);
      if (need_.column_squares) totals_.squares = at::zeros({kv_heads_, tokens_}, fp32_);
    }
    if (need_.row_entropy) totals_.entropy = at::zeros({kv_heads_, group_}, fp32_.dtype(at::kDouble));
    for (const at::Tensor& past : view_.past_keys) {
      totals_.past_sums.push_back(at::zeros({group_, past.size(0)}, fp32_));
      if (need_.column_squares) totals_.past_squares.push_back(at::zeros({past.size(0)}, fp32_));
    }
    if (small_by_kernel_) small_ = count_small_entries(view_, first_ - without_query_, without_query_, *need_.sparsity_p);
    if (small_in_tiles_) small_.counts = at::zeros({kv_heads_, group_}, fp32_.dtype(at::kLong));
    if (sums_by_kernel_) add_columns(view_, first_ - without_query_, without_query_, totals_);  // of keys up to the row
  }

  void add_rows(std::int64_t row, std::int64_t rows) {
    const at::Tensor queries = query_tile(view_, kv_heads_, row - without_query_, rows);
    at::Tensor lse;
    if (wants_probabilities_)
      lse = view_.log_sum_exp.narrow(1, row - without_query_, rows).to(at::kFloat).reshape({kv_heads_, group_, rows, 1});
    at::Tensor threshold;
    if (small_in_tiles_) {
      const at::Tensor maxima = row_maxima(view_, queries, row, rows);
      finite_ = finite_ && at::isfinite(maxima).all().item<bool>();
      threshold = (maxima + std::log(*need_.sparsity_p)).unsqueeze(3);
    }
    const auto add = [&](std::int64_t key, std::int64_t count, const at::Tensor& logits, const at::Tensor& mask) {
      if (small_in_tiles_) count_small(logits, threshold, mask);
      if (wants_probabilities_) add_keys(key, count, logits.sub_(lse), mask);
    };
    if (sums_by_kernel_) {
      for_later_keys(view_, queries, row, rows, add);
      return;
    }
    for_key_tiles(view_, queries, row, rows, add);
    if (wants_probabilities_) add_past(queries, lse, rows);
  }

  void count_small(const at::Tensor& logits, const at::Tensor& threshold, const at::Tensor& mask) {
    at::Tensor below = logits.lt(threshold);
    if (mask.defined()) below.masked_fill_(mask, false);
    // Summing booleans copies them into the type of the sum: the smaller the better.
    small_.counts += below.sum({2, 3}, false, at::kInt);
  }

  void add_keys(std::int64_t key, std::int64_t count, const at::Tensor& log_probabilities, const at::Tensor& mask) {
    at::Tensor probabilities = need_.row_entropy ? log_probabilities.exp() : log_probabilities.exp_();
    if (mask.defined()) probabilities.masked_fill_(mask, 0.0);
    if (need_.row_entropy) totals_.entropy.sub_(probabilities.mul(log_probabilities).sum({2, 3}, false, at::kDouble));
    totals_.sums.narrow(2, key, count).add_(probabilities.sum(2));
    if (need_.column_squares) totals_.squares.narrow(1, key, count).add_(probabilities.mean(1).square_().sum(1));
  }

  void add_past(const at::Tensor& queries, const at::Tensor& lse, std::int64_t rows) {
    for (KvHead head{0}; head < static_cast<std::int64_t>(view_.past_keys.size()); ++head) {
      const auto h = static_cast<std::size_t>(head);
      for_past_tiles(view_, queries, lse, head, rows, [&](std::int64_t slot, std::int64_t count, const at::Tensor& log_probabilities) {
        const at::Tensor probabilities = log_probabilities.exp();
        if (need_.row_entropy) totals_.entropy.select(0, head).sub_(probabilities.mul(log_probabilities).sum({1, 2}, false, at::kDouble));
        totals_.past_sums[h].narrow(1, slot, count).add_(probabilities.sum(1));
        if (need_.column_squares) totals_.past_squares[h].narrow(0, slot, count).add_(probabilities.mean(0).square_().sum(0));
      });
    }
  }

  RowStatistics fetched() {
    RowStatistics result{.rows = need_.rows, .reduce = need_.reduce, .row_count = tokens_ - first_};
    HostCopies copies;
    std::vector<double> entropy;
    std::vector<std::int64_t> all_finite;
    if (need_.column_sums) {
      result.column_sums = {kv_heads_, tokens_, {}};
      copies.add(reduce_group(totals_.sums, need_.reduce, 1), result.column_sums.values);
      result.past_sums.resize(totals_.past_sums.size());
      for (std::size_t head = 0; head < totals_.past_sums.size(); ++head)
        copies.add(reduce_group(totals_.past_sums[head], need_.reduce, 0), result.past_sums[head]);
    }
    if (need_.column_squares) {
      result.column_squares = {kv_heads_, tokens_, {}};
      copies.add(totals_.squares, result.column_squares.values);
      result.past_squares.resize(totals_.past_squares.size());
      for (std::size_t head = 0; head < totals_.past_squares.size(); ++head)
        copies.add(totals_.past_squares[head], result.past_squares[head]);
    }
    if (need_.head_variance) copies.add(totals_.sums.to(at::kDouble).var(at::IntArrayRef{2}, /*unbiased=*/false), result.head_variance);
    if (need_.row_entropy) copies.add(totals_.entropy.mean(), entropy);
    if (need_.sparsity_p) copies.add(small_.counts, result.zero_counts);
    if (small_by_kernel_) copies.add(at::isfinite(small_.maxima).all().to(at::kLong), all_finite);
    copies.fetch();

    if (need_.row_entropy) result.row_entropy = entropy.front() / static_cast<double>(tokens_ - first_);
    if (small_by_kernel_) finite_ = all_finite.front() != 0;
    if (need_.sparsity_p) result.sparsity = sparsity_of(result.zero_counts);
    return result;
  }

  double sparsity_of(const std::vector<std::int64_t>& counts) const {
    // Sum over rows of (i + 1), and of what they see behind them.
    double allowed = 0.5 * static_cast<double>(tokens_ - first_) * static_cast<double>(tokens_ + first_ + 1);
    for (const RowSpan& span : view_.bidirectional) {
      const auto later = static_cast<double>(std::max<std::int64_t>(0, span.end() - std::max(span.first, first_)));
      allowed += 0.5 * later * (later - 1.0);
    }
    double total = 0.0;
    for (const std::int64_t count : counts) total += static_cast<double>(count) / allowed;
    return finite_ ? total / static_cast<double>(view_.query.size(0)) : std::numeric_limits<double>::quiet_NaN();
  }

  const LayerView& view_;
  const StatisticsNeed& need_;
  const std::int64_t tokens_;
  const std::int64_t without_query_;
  const std::int64_t first_;
  const std::int64_t kv_heads_;
  const std::int64_t group_;
  const at::TensorOptions fp32_;
  const bool wants_probabilities_;
  const bool received_;
  const bool small_by_kernel_;
  const bool small_in_tiles_;
  const bool sums_by_kernel_;
  ColumnTotals totals_;
  SmallEntries small_;
  bool finite_ = true;
};

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
    for_key_tiles(view, queries, row, rows, [&](std::int64_t key, std::int64_t count, const at::Tensor& logits, const at::Tensor& mask) {
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
  return RowPass(view, segment, need).run();
}

}  // namespace winnow
