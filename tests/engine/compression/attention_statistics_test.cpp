#include "engine/compression/statistics/attention_statistics.h"
#include "engine/compression/statistics/statistics_memo.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "engine/layers/tiled_attention.h"
#include "tests/engine/compression/layer_fixture.h"
#include "tests/support/allocation_probe.h"

namespace winnow {
namespace {

using testing::random_view;
using testing::segment_of;

std::vector<Modality> all_text(std::int64_t n) { return std::vector<Modality>(static_cast<std::size_t>(n), Modality::kText); }

// Statistics straight from the definition, in double.
struct Dense {
  at::Tensor sums;                                  // [Hkv, n]
  at::Tensor squares;                               // [Hkv, n]
  std::vector<at::Tensor> past_sums, past_squares;  // per kv head
  double entropy = 0.0;
  std::vector<std::int64_t> zeros;
  double allowed = 0.0;  // entries that are seen
};

Dense dense(const LayerView& view, std::int64_t first, double p) {
  const std::int64_t n = view.query.size(1);
  const std::int64_t group = view.query.size(0) / view.key.size(0);
  Dense result;
  std::vector<at::Tensor> sums, squares;
  at::Tensor mean;  // of the group, with retained slots
  KvHead head;
  for (const at::Tensor& logits : testing::dense_logits(view)) {
    const at::Tensor rows = logits.narrow(0, first, n - first);
    const at::Tensor probabilities = at::softmax(rows, 1);
    const std::int64_t past = rows.size(1) - n;
    sums.push_back(probabilities.narrow(1, past, n).sum(0));
    const at::Tensor allowed = rows.narrow(1, past, n).gt(-std::numeric_limits<double>::infinity());
    result.allowed = allowed.sum().item<double>();
    const at::Tensor below = rows.narrow(1, past, n).lt(rows.amax(1, true) + std::log(p)).logical_and(allowed);
    result.zeros.push_back(below.sum().item<std::int64_t>());
    result.entropy -= at::xlogy(probabilities, probabilities).sum().item<double>() / static_cast<double>(view.query.size(0) * (n - first));
    mean = head % group == 0 ? probabilities / group : mean + probabilities / group;
    if (++head % group > 0) continue;
    squares.push_back(mean.narrow(1, past, n).square().sum(0));
    result.past_sums.push_back(mean.narrow(1, 0, past).sum(0));
    result.past_squares.push_back(mean.narrow(1, 0, past).square().sum(0));
  }
  result.squares = at::stack(squares).to(at::kFloat);
  result.sums = at::stack(sums).view({-1, group, n}).mean(1).to(at::kFloat);
  return result;
}

void expect_dense_equality(std::int64_t n, std::int64_t window, const std::vector<std::int64_t>& past,
                           const std::vector<RowSpan>& bidirectional = {}) {
  SCOPED_TRACE(::testing::Message() << "n " << n << " window " << window << " past " << (past.empty() ? 0 : past[0]));
  LayerView view = random_view(LayerId(0), 6, 2, n, 16, past, 2.0);
  view.bidirectional = bidirectional;
  testing::set_log_sum_exp(view);
  const std::vector<Modality> modality = all_text(n);
  const SegmentInfo segment = segment_of(modality, 1, 6, 2);
  StatisticsNeed need{.rows = {.window = window}, .column_sums = true, .sparsity_p = 0.05};
  const RowStatistics tiled = attention_statistics(view, segment, need);
  const Dense expected = dense(view, std::max<std::int64_t>(0, n - window), 0.05);
  const at::Tensor sums = at::tensor(tiled.column_sums.values).view({2, n});
  EXPECT_LT((sums - expected.sums).abs().max().item<float>(), 1e-4);
  ASSERT_EQ(tiled.zero_counts.size(), 6U);
  for (std::size_t head = 0; head < 6; ++head) {
    // A logit within rounding of the threshold may fall on either side.
    EXPECT_NEAR(static_cast<double>(tiled.zero_counts[head]), static_cast<double>(expected.zeros[head]), 2.0) << head;
  }
  const double below = static_cast<double>(std::accumulate(tiled.zero_counts.begin(), tiled.zero_counts.end(), std::int64_t{0}));
  EXPECT_NEAR(tiled.sparsity, below / 6.0 / expected.allowed, 1e-9);

  // Without sparsity the CPU's kernel does it; with it, libtorch in tiles.
  need.column_squares = true;
  need.row_entropy = true;
  const RowStatistics in_tiles = attention_statistics(view, segment, need);
  need.sparsity_p.reset();
  const RowStatistics by_kernel = attention_statistics(view, segment, need);
  for (const RowStatistics* found : {&in_tiles, &by_kernel}) {
    EXPECT_LT((at::tensor(found->column_sums.values).view({2, n}) - expected.sums).abs().max().item<float>(), 1e-4);
    EXPECT_LT((at::tensor(found->column_squares.values).view({2, n}) - expected.squares).abs().max().item<float>(), 1e-4);
    EXPECT_NEAR(found->row_entropy, expected.entropy, 1e-4);
    for (std::size_t head = 0; head < found->past_sums.size(); ++head) {
      EXPECT_LT((at::tensor(found->past_sums[head]) - expected.past_sums[head]).abs().max().item<double>(), 1e-4) << head;
      EXPECT_LT((at::tensor(found->past_squares[head]) - expected.past_squares[head]).abs().max().item<double>(), 1e-4) << head;
    }
  }
}

TEST(AttentionStatistics, EqualTheDenseDefinitionAcrossTileBorders) {
  for (const std::int64_t n : {1, 63, 64, 65, 511, 512, 513, 700}) {
    for (const std::int64_t window : {1, 32, 64, 65, 700}) expect_dense_equality(n, window, {});
  }
}

TEST(AttentionStatistics, RetainedSlotsEnterTheSoftmaxButAreNoColumns) {
  expect_dense_equality(40, 40, {9, 9});
  expect_dense_equality(130, 70, {600, 3});  // ragged, past a key tile
}

// Pictures: within a row tile, over its border, over a key tile's, and longer than either.
TEST(AttentionStatistics, RowsThatSeeEachOtherCountInBothDirections) {
  for (const std::int64_t window : {1, 20, 100, 700}) {
    expect_dense_equality(90, window, {}, {{0, 3}, {10, 16}, {26, 2}, {60, 20}, {85, 5}});
    expect_dense_equality(700, window, {9, 9}, {{5, 256}, {270, 256}, {530, 2}, {600, 90}});
    expect_dense_equality(700, window, {}, {{2, 690}});
  }
}

// By hand: all logits are 0, so that a row shares itself out evenly over what it sees. Rows 1 and 2 are a picture of two tokens.
TEST(AttentionStatistics, ColumnsOfAPictureByHand) {
  LayerView view = random_view(LayerId(0), 1, 1, 4, 2);
  view.query.zero_();
  view.bidirectional = {{1, 2}};
  testing::set_log_sum_exp(view);
  const std::vector<Modality> modality = all_text(4);
  SegmentInfo segment = segment_of(modality, 1, 1, 1);
  segment.bidirectional = view.bidirectional;
  StatisticsNeed need{.rows = RowRule::all(), .column_sums = true};
  const std::vector<float> sums = attention_statistics(view, segment, need).column_sums.values;
  // Row 0 sees itself, rows 1 and 2 see 0 to 2 (a third each), row 3 all four.
  const std::array<double, 4> expected = {1.0 + 2.0 / 3.0 + 0.25, 2.0 / 3.0 + 0.25, 2.0 / 3.0 + 0.25, 0.25};
  const std::array<std::int64_t, 4> seen_by = {4, 3, 3, 1};
  for (std::size_t j = 0; j < 4; ++j) {
    EXPECT_NEAR(sums[j], expected[j], 1e-6) << j;
    EXPECT_EQ(segment.rows_that_saw(static_cast<std::int64_t>(j)), seen_by[j]) << j;
  }
  const std::array<double, 4> weights = {0.0, 1.0, 0.0, 0.0};
  const std::vector<double> of_row = weighted_columns(view, weights);
  for (std::size_t j = 0; j < 4; ++j) EXPECT_NEAR(of_row[j], j < 3 ? 1.0 / 3.0 : 0.0, 1e-6) << j;
}

TEST(AttentionStatistics, AreDeterministic) {
  LayerView view = random_view(LayerId(3), 4, 2, 1500, 32);
  testing::set_log_sum_exp(view);
  const std::vector<Modality> modality = all_text(1500);
  StatisticsNeed need{.rows = {.window = 200}, .column_sums = true};
  const RowStatistics first = attention_statistics(view, segment_of(modality, 1, 4, 2), need);
  const RowStatistics second = attention_statistics(view, segment_of(modality, 1, 4, 2), need);
  EXPECT_EQ(first.column_sums.values, second.column_sums.values);
}

TEST(AttentionStatistics, DoNotDependOnTheNumberOfThreads) {
  LayerView view = random_view(LayerId(3), 4, 2, 1500, 32, {700, 700});
  testing::set_log_sum_exp(view);
  const std::vector<Modality> modality = all_text(1500);
  StatisticsNeed need{.rows = {.window = 1500}, .column_sums = true, .column_squares = true, .row_entropy = true};
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  const RowStatistics one = attention_statistics(view, segment_of(modality, 1, 4, 2), need);
  at::set_num_threads(3);
  const RowStatistics three = attention_statistics(view, segment_of(modality, 1, 4, 2), need);
  at::set_num_threads(threads);
  EXPECT_EQ(one.column_sums.values, three.column_sums.values);
  EXPECT_EQ(one.column_squares.values, three.column_squares.values);
  EXPECT_EQ(one.past_sums, three.past_sums);
  EXPECT_EQ(one.row_entropy, three.row_entropy);
}

TEST(AttentionStatistics, TakeHalfPrecision) {
  LayerView view = random_view(LayerId(0), 4, 2, 100, 32);
  view.query = view.query.to(at::kBFloat16);
  view.key = view.key.to(at::kBFloat16);
  testing::set_log_sum_exp(view);
  const std::vector<Modality> modality = all_text(100);
  StatisticsNeed need{.rows = {.window = 100}, .column_sums = true};
  const RowStatistics found = attention_statistics(view, segment_of(modality, 1, 4, 2), need);
  double total = 0.0;
  for (const float sum : found.column_sums.row(1)) total += sum;
  EXPECT_NEAR(total, 100.0, 1e-2);  // every row's probabilities sum to one
}

// What attention has counted is believed, where the need is about all rows and nothing but sums.
TEST(AttentionStatistics, TakeWhatAttentionHasCounted) {
  LayerView view = random_view(LayerId(0), 4, 2, 100, 32);
  testing::set_log_sum_exp(view);
  const std::vector<Modality> modality = all_text(100);
  const SegmentInfo segment = segment_of(modality, 1, 4, 2);
  StatisticsNeed need{.rows = RowRule::all(), .column_sums = true, .column_squares = true, .head_variance = true};
  EXPECT_EQ(received_need(need), ReceivedNeed::kSquares);
  const RowStatistics computed = attention_statistics(view, segment, need);

  view.received = ReceivedAttention::of(ReceivedNeed::kSquares, 4, 2, 100);
  ReceivedAttention nobody;
  const at::Tensor counted = causal_attention({view.query.transpose(0, 1), view.key, view.value, 0, view.scale}, view.received).output;
  EXPECT_TRUE(at::equal(counted, causal_attention({view.query.transpose(0, 1), view.key, view.value, 0, view.scale}, nobody).output));
  const RowStatistics taken = attention_statistics(view, segment, need);
  const auto expect_near = [](const auto& actual, const auto& expected, double relative) {
    ASSERT_EQ(actual.size(), expected.size());
    for (std::size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], expected[i], relative * static_cast<double>(expected[i])) << i;
  };
  expect_near(taken.column_sums.values, computed.column_sums.values, 1e-5);
  expect_near(taken.column_squares.values, computed.column_squares.values, 2e-5);
  expect_near(taken.head_variance, computed.head_variance, 1e-4);
  EXPECT_EQ(taken.row_count, computed.row_count);

  view.received.sums.fill_(7.0);
  EXPECT_EQ(attention_statistics(view, segment, need).column_sums.row(1)[50], 7.0F) << "nothing is computed again";
  StatisticsNeed last = need;
  last.rows = RowRule::last(32);
  StatisticsNeed entropy = need;
  entropy.row_entropy = true;
  StatisticsNeed sparsity = need;
  sparsity.sparsity_p = 0.01;
  for (const StatisticsNeed& other : {last, entropy, sparsity}) {
    EXPECT_EQ(received_need(other), ReceivedNeed::kNothing);
    EXPECT_NE(attention_statistics(view, segment, other).column_sums.row(1)[50], 7.0F);
  }
  view.received.squares.reset();
  EXPECT_NE(attention_statistics(view, segment, need).column_sums.row(1)[50], 7.0F) << "squares have to be computed, and sums with them";
}

TEST(AttentionStatistics, NeverAllocateMoreThanLinearMemory) {
  constexpr std::int64_t kTokens = 8192;
  LayerView view = random_view(LayerId(0), 2, 1, kTokens, 8);
  view.log_sum_exp = at::full({2, kTokens}, 10.0F);
  const std::vector<Modality> modality = all_text(kTokens);
  StatisticsNeed need;
  need.rows.window = kTokens;  // the worst case: all rows
  need.column_sums = true;
  need.sparsity_p = 0.01;
  testing::AllocationProbe probe;
  attention_statistics(view, segment_of(modality, 1, 2, 1), need);
  // The tile of logits, H * 64 * 512 fp32, or the sums, H * n; n x n of one head would be 256 MiB.
  const std::int64_t tile = 2 * kStatisticsRowTile * kStatisticsKeyTile * 4;
  EXPECT_LE(probe.largest_bytes(), std::max(tile, 2 * kTokens * 4));
  EXPECT_LE(probe.peak_bytes(), 8 * tile);
  need.sparsity_p.reset();
  testing::AllocationProbe by_kernel;
  attention_statistics(view, segment_of(modality, 1, 2, 1), need);
  EXPECT_LE(by_kernel.peak_bytes(), 8 * kTokens * 4) << "nothing but sums";
}

TEST(AttentionStatistics, SayWhenARowIsNotFinite) {
  LayerView view = random_view(LayerId(0), 2, 1, 10, 4);
  testing::set_log_sum_exp(view);
  view.query[0][9].fill_(std::nan(""));
  const std::vector<Modality> modality = all_text(10);
  StatisticsNeed need{.rows = {.window = 4}, .sparsity_p = 0.01};
  EXPECT_TRUE(std::isnan(attention_statistics(view, segment_of(modality, 1, 2, 1), need).sparsity));
}

TEST(RowRule, PicksPostVisionRows) {
  using enum Modality;
  const std::vector<Modality> mixed = {kText, kVisual, kText, kVisual, kText, kText};
  const SegmentInfo segment = segment_of(mixed, 1, 1, 1);
  RowRule rule{.kind = RowRule::Kind::kPostVision};
  EXPECT_EQ(rows_of(rule, segment).first, 4);
  rule.min_rows = 5;
  EXPECT_EQ(rows_of(rule, segment).first, 1);
  rule.min_rows = 1;
  rule.max_rows = 1;
  EXPECT_EQ(rows_of(rule, segment).first, 5);
  EXPECT_FALSE(rows_of(rule, segment).fallback);
}

TEST(RowRule, FallsBackToTheLastRows) {
  RowRule rule{.kind = RowRule::Kind::kPostVision};
  std::vector<Modality> modality = all_text(50);
  EXPECT_EQ(rows_of(rule, segment_of(modality, 1, 1, 1)).first, 18);
  EXPECT_TRUE(rows_of(rule, segment_of(modality, 1, 1, 1)).fallback);
  modality.back() = Modality::kVisual;
  EXPECT_EQ(rows_of(rule, segment_of(modality, 1, 1, 1)).first, 18);
  modality.resize(5, Modality::kText);
  EXPECT_EQ(rows_of(rule, segment_of(modality, 1, 1, 1)).first, 0);
}

// Recipes that watch one prefill: what two of them want alike is computed once, and both are told what it took.
TEST(StatisticsMemo, ComputesEqualNeedsOnce) {
  const LayerView view = testing::att8_view();
  const SegmentInfo segment = testing::att8_segment();
  StatisticsNeed need{.rows = RowRule::all(), .column_sums = true};
  StatisticsMemo memo;
  double first_ms = 0.0, second_ms = 0.0, other_ms = 0.0;
  const std::vector<float> sums = memo.rows(view, segment, need, first_ms).column_sums.values;
  EXPECT_EQ(first_ms, 0.0) << "the asker's own clock has it";
  LayerView other = view;
  other.key = view.key + 1.0;  // would give other sums: the memo does not look again
  EXPECT_EQ(memo.rows(other, segment, need, second_ms).column_sums.values, sums);
  EXPECT_GT(second_ms, 0.0);
  need.rows = RowRule::last(2);
  EXPECT_NE(memo.rows(view, segment, need, other_ms).column_sums.values, sums);
  EXPECT_EQ(other_ms, 0.0);
}

}  // namespace
}  // namespace winnow
