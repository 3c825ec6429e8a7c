// The eight-token fixture: every number was computed twice in double precision, outside this program.
#include <gtest/gtest.h>

#include "engine/compression/methods/random.h"
#include "engine/compression/methods/snapkv.h"
#include "engine/compression/methods/streaming_llm.h"
#include "engine/compression/methods/vl_cache.h"
#include "engine/compression/scorers/random_score.h"
#include "engine/compression/scorers/window_votes.h"
#include "engine/compression/segment_compressor.h"
#include "engine/compression/select.h"
#include "engine/compression/statistics/attention_statistics.h"
#include "tests/engine/compression/layer_fixture.h"

namespace winnow {
namespace {

using testing::att8_segment;
using testing::att8_view;
using Rows = std::vector<std::int32_t>;

constexpr double kTolerance = 1e-5;

void expect_near(std::span<const float> actual, const std::vector<double>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(actual[i], expected[i], kTolerance) << "column " << i;
}

RowStatistics statistics(RowRule::Kind kind, std::int64_t window, std::optional<double> p = {}, GroupReduce reduce = GroupReduce::kMean) {
  StatisticsNeed need;
  need.rows.kind = kind;
  need.rows.window = window;
  need.column_sums = true;
  need.sparsity_p = p;
  need.reduce = reduce;
  return attention_statistics(att8_view(), att8_segment(), need);
}

TEST(Att8, LogSumExp) {
  const at::Tensor lse = att8_view().log_sum_exp.contiguous();
  expect_near({lse.const_data_ptr<float>(), 8}, {1.414214, 1.107940, 2.327728, 2.215881, 2.268257, 2.856239, 3.450041, 2.689124});
  expect_near({lse.const_data_ptr<float>() + 8, 8}, {0.000000, 1.815047, 1.965904, 1.713672, 2.732279, 3.310121, 2.540867, 3.016715});
}

TEST(Att8, ColumnSumsOfAllRows) {
  expect_near(statistics(RowRule::Kind::kLast, 8).column_sums.row(0),
              {3.190251, 1.882753, 0.884301, 0.432670, 1.069459, 0.305361, 0.116662, 0.118546});
  expect_near(statistics(RowRule::Kind::kLast, 8, {}, GroupReduce::kMaximum).column_sums.row(0),
              {3.255613, 2.006761, 0.965753, 0.493766, 1.165579, 0.315098, 0.145509, 0.137791});
}

TEST(Att8, ColumnSumsOfTheWindow) {
  expect_near(statistics(RowRule::Kind::kLast, 2).column_sums.row(0),
              {0.565263, 0.314783, 0.173817, 0.186422, 0.295695, 0.228812, 0.116662, 0.118546});
}

TEST(Att8, ColumnSumsOfPostVisionRows) {
  expect_near(statistics(RowRule::Kind::kPostVision, 0).column_sums.row(0),
              {0.701743, 0.508099, 0.307200, 0.219603, 0.722787, 0.305361, 0.116662, 0.118546});
}

TEST(Att8, ZeroCounts) {
  const std::pair<double, std::int64_t> cases[] = {{0.01, 0}, {0.2, 4}, {0.5, 16}};
  for (const auto& [p, count] : cases) {
    const RowStatistics found = statistics(RowRule::Kind::kPostVision, 0, p);
    EXPECT_EQ(found.zero_counts, (std::vector<std::int64_t>{count, count})) << p;
    EXPECT_NEAR(found.sparsity, static_cast<double>(count) / 21.0, kTolerance);
  }
  EXPECT_EQ(statistics(RowRule::Kind::kLast, 8, 0.2).zero_counts, (std::vector<std::int64_t>{5, 4}));
  EXPECT_EQ(statistics(RowRule::Kind::kLast, 8, 0.5).zero_counts, (std::vector<std::int64_t>{25, 23}));
}

TEST(Att8, SnapKvScores) {
  const WindowVotesScorer scorer(2, 3, Pooling::kAverage);
  LayerStatistics layer;
  layer.by_rows.push_back(attention_statistics(att8_view(), att8_segment(), *scorer.need()));
  const HeadScores scores = scorer.score(layer, att8_segment());
  expect_near(scores.row(0).first(6), {0.293349, 0.351288, 0.225008, 0.218645, 0.236977, 0.174836});
}

Rows kept(Composition composition, int budget) {
  RecipeSpec spec;
  spec.budget_tokens = budget;
  const Recipe recipe = Recipe::from_parts(spec, std::move(composition));
  SegmentCompressor compressor(recipe, att8_segment());
  EXPECT_TRUE(compressor.will_compress());
  if (compressor.wants_views()) compressor.on_layer(att8_view());
  EXPECT_EQ(compressor.budgets(), (std::vector<std::int64_t>{budget}));
  return compressor.plan(0).kept.at(0);
}

TEST(Att8, SnapKvKeeps) {
  const SnapKvOptions options{2, 3, Pooling::kAverage};
  EXPECT_EQ(kept(compose_snapkv(options), 4), (Rows{0, 1, 6, 7}));
  EXPECT_EQ(kept(compose_snapkv(options), 5), (Rows{0, 1, 4, 6, 7}));
}

TEST(Att8, VlCacheKeeps) { EXPECT_EQ(kept(compose_vl_cache(), 4), (Rows{0, 1, 4, 7})); }

TEST(Att8, StreamingLlmKeeps) { EXPECT_EQ(kept(compose_streaming_llm({1}), 4), (Rows{0, 5, 6, 7})); }

TEST(Att8, RandomKeeps) {
  EXPECT_EQ(kept(compose_random({1234, false}), 4), (Rows{0, 1, 4, 7}));
  LayerStatistics layer;
  layer.layer = 1;
  SegmentInfo segment = att8_segment();
  segment.kv_heads = 3;
  const HeadScores scores = RandomScorer(1234, false).score(layer, segment);
  EXPECT_EQ(select_rows(scores.row(2), 4, protected_rows(8, 0, 1)), (Rows{3, 5, 6, 7}));
}

TEST(Att8, RandomUsesTheTokensPlaceInTheConversation) {
  LayerStatistics layer;
  SegmentInfo late = att8_segment();
  late.first_original = 5;
  const HeadScores from_start = RandomScorer(9, false).score(layer, att8_segment());
  const HeadScores from_five = RandomScorer(9, false).score(layer, late);
  EXPECT_EQ(from_start.row(0)[5], from_five.row(0)[0]);
}

}  // namespace
}  // namespace winnow
