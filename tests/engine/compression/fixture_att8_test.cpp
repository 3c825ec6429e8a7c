// The eight-token fixture: every number was computed twice in double precision, outside this program.
#include <gtest/gtest.h>

#include <limits>

#include "engine/compression/segment_compressor.h"
#include "engine/compression/statistics/attention_statistics.h"
#include "engine/compression/statistics/cross_modal_entropy.h"
#include "engine/compression/statistics/elite_attention.h"
#include "engine/recipes/allocators/inverse_variance.h"
#include "engine/recipes/scorers/accumulated.h"
#include "engine/recipes/scorers/global_local.h"
#include "engine/recipes/scorers/position_scores.h"
#include "engine/recipes/scorers/text_prior.h"
#include "engine/recipes/scorers/window_votes.h"
#include "engine/recipes/select.h"
#include "tests/engine/compression/layer_fixture.h"
#include "tests/engine/compression/named_composition.h"

namespace winnow {
namespace {

using testing::att8_segment;
using testing::att8_view;
using testing::composition_of;
using Options = std::map<std::string, std::string>;
using Rows = std::vector<std::int32_t>;

constexpr double kAtt8Tolerance = 1e-5;

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
  testing::expect_near({lse.const_data_ptr<float>(), 8}, {1.414214, 1.107940, 2.327728, 2.215881, 2.268257, 2.856239, 3.450041, 2.689124});
  testing::expect_near({lse.const_data_ptr<float>() + 8, 8},
                       {0.000000, 1.815047, 1.965904, 1.713672, 2.732279, 3.310121, 2.540867, 3.016715});
}

TEST(Att8, ColumnSumsOfAllRows) {
  testing::expect_near(statistics(RowRule::Kind::kLast, 8).column_sums.row(0),
                       {3.190251, 1.882753, 0.884301, 0.432670, 1.069459, 0.305361, 0.116662, 0.118546});
  testing::expect_near(statistics(RowRule::Kind::kLast, 8, {}, GroupReduce::kMaximum).column_sums.row(0),
                       {3.255613, 2.006761, 0.965753, 0.493766, 1.165579, 0.315098, 0.145509, 0.137791});
}

TEST(Att8, GlobalLocalScores) {
  const auto all = statistics(RowRule::Kind::kLast, 8).column_sums;
  const auto local = statistics(RowRule::Kind::kLast, 2).column_sums;
  const std::vector<float> scores = global_local(all.row(0), local.row(0));
  testing::expect_near(scores, {0.797563, 0.470688, 0.221075, 0.186422, 0.295695, 0.228812, 0.116662, 0.118546});
  testing::expect_near(pool_scores(scores, 3, Pooling::kAverage),
                       {0.422750, 0.496442, 0.292729, 0.234398, 0.236977, 0.213723, 0.154673, 0.078402});
}

TEST(Att8, ColumnSumsOfTheWindow) {
  testing::expect_near(statistics(RowRule::Kind::kLast, 2).column_sums.row(0),
                       {0.565263, 0.314783, 0.173817, 0.186422, 0.295695, 0.228812, 0.116662, 0.118546});
}

TEST(Att8, ColumnSumsOfPostVisionRows) {
  testing::expect_near(statistics(RowRule::Kind::kPostVision, 0).column_sums.row(0),
                       {0.701743, 0.508099, 0.307200, 0.219603, 0.722787, 0.305361, 0.116662, 0.118546});
}

TEST(Att8, ZeroCounts) {
  const std::pair<double, std::int64_t> cases[] = {{0.01, 0}, {0.2, 4}, {0.5, 16}};
  for (const auto& [p, count] : cases) {
    const RowStatistics found = statistics(RowRule::Kind::kPostVision, 0, p);
    EXPECT_EQ(found.zero_counts, (std::vector<std::int64_t>{count, count})) << p;
    EXPECT_NEAR(found.sparsity, static_cast<double>(count) / 21.0, kAtt8Tolerance);
  }
  EXPECT_EQ(statistics(RowRule::Kind::kLast, 8, 0.2).zero_counts, (std::vector<std::int64_t>{5, 4}));
  EXPECT_EQ(statistics(RowRule::Kind::kLast, 8, 0.5).zero_counts, (std::vector<std::int64_t>{25, 23}));
}

TEST(Att8, SnapKvScores) {
  const WindowVotesScorer scorer(2, 3, Pooling::kAverage);
  LayerStatistics layer;
  layer.by_rows.push_back(attention_statistics(att8_view(), att8_segment(), scorer.needs().attention.front()));
  const HeadScores scores = scorer.score(layer, att8_segment());
  testing::expect_near(scores.row(0).first(6), {0.293349, 0.351288, 0.225008, 0.218645, 0.236977, 0.174836});
}

Rows kept(Composition composition, int budget) {
  RecipeSpec spec;
  spec.budget_tokens = budget;
  const Recipe recipe = Recipe::from_parts(spec, std::move(composition));
  SegmentCompressor compressor(recipe, att8_segment());
  EXPECT_TRUE(compressor.will_compress());
  if (compressor.wants_views()) compressor.on_layer(att8_view());
  EXPECT_EQ(compressor.budgets(), (std::vector<std::int64_t>{budget}));
  return compressor.plan(LayerId(0)).kept.at(0);
}

TEST(Att8, SnapKvKeeps) {
  const Options options = {{"window", "2"}, {"kernel", "3"}};
  EXPECT_EQ(kept(composition_of("snapkv", options), 4), (Rows{0, 1, 6, 7}));
  EXPECT_EQ(kept(composition_of("snapkv", options), 5), (Rows{0, 1, 4, 6, 7}));
}

TEST(Att8, VlCacheKeeps) { EXPECT_EQ(kept(composition_of("vl-cache"), 4), (Rows{0, 1, 4, 7})); }

TEST(Att8, StreamingLlmKeeps) { EXPECT_EQ(kept(composition_of("streaming-llm", {{"sinks", "1"}}), 4), (Rows{0, 5, 6, 7})); }

TEST(Att8, H2oKeeps) { EXPECT_EQ(kept(composition_of("h2o"), 4), (Rows{0, 1, 6, 7})); }

TEST(Att8, TextPrior) {
  const TextPriorScorer scorer;
  LayerStatistics layer;
  layer.by_rows.push_back(attention_statistics(att8_view(), att8_segment(), scorer.needs().attention.front()));
  testing::expect_near(scorer.score(layer, att8_segment()).row(0),
                       {6.380501, 1.882753, 0.884301, 0.432670, 1.069459, 3.495611, 3.306912, 3.308796});
}

TEST(Att8, MedaKeeps) {
  EXPECT_EQ(kept(composition_of("meda"), 6), (Rows{0, 1, 4, 5, 6, 7}));
  EXPECT_EQ(kept(composition_of("meda", {{"recent_share", "0.5"}}), 6), (Rows{0, 1, 4, 5, 6, 7}));
  EXPECT_EQ(kept(composition_of("meda", {{"recent_share", "0.75"}}), 6), (Rows{0, 3, 4, 5, 6, 7}));  // the paper's 3:1
}

// All text stays (0, 5, 6, 7; of the last 3 rows none is visual), and the two best images fill the rest.
TEST(Att8, HardTextPolicyKeepsAllTextFirst) {
  const Options hard = {{"recent_share", "0.5"}, {"text_policy", "hard"}};
  EXPECT_EQ(kept(composition_of("meda", hard), 6), (Rows{0, 1, 4, 5, 6, 7}));
  EXPECT_EQ(kept(composition_of("look-m", hard), 2), (Rows{0, 5, 6, 7}));  // text alone is more than the budget
}

TEST(Att8, CrossModalEntropies) {
  using Heads = CrossModalNeed::Heads;
  const CrossModalEntropy found = cross_modal_entropy(att8_view(), att8_segment(), {});
  EXPECT_TRUE(found.defined);
  EXPECT_NEAR(found.text_to_visual, 1.254547, kAtt8Tolerance);
  EXPECT_NEAR(found.visual_to_text, 1.324794, kAtt8Tolerance);
  // Mean over heads of each head's own: (1.242782 + 1.172129 + 1.263058 + 1.213321) / 2.
  const CrossModalEntropy by_head = cross_modal_entropy(att8_view(), att8_segment(), {Heads::kEntropyFirst, false});
  EXPECT_NEAR(by_head.text_to_visual, 0.5 * (1.242782 + 1.172129), kAtt8Tolerance);
  EXPECT_NEAR(by_head.visual_to_text, 0.5 * (1.263058 + 1.213321), kAtt8Tolerance);
  EXPECT_NEAR(by_head.text_to_visual + by_head.visual_to_text, 2.445645, kAtt8Tolerance);
}

// Causal: row 0 sees no image; visual rows see text 0 only, which has no entropy.
TEST(Att8, CausalCrossModalEntropyLooksBackOnly) {
  const CrossModalEntropy found = cross_modal_entropy(att8_view(), att8_segment(), {CrossModalNeed::Heads::kMeanFirst, true});
  EXPECT_NEAR(found.visual_to_text, 0.0, kAtt8Tolerance);
  EXPECT_GT(found.text_to_visual, 1.0);
}

TEST(Att8, FullAttentionEntropy) {
  StatisticsNeed need;
  need.rows = RowRule::all();
  need.row_entropy = true;
  EXPECT_NEAR(attention_statistics(att8_view(), att8_segment(), need).row_entropy, 1.161692, kAtt8Tolerance);
}

TEST(Att8, VarianceOfColumnSums) {
  StatisticsNeed need;
  need.rows = RowRule::all();
  need.head_variance = true;
  const RowStatistics found = attention_statistics(att8_view(), att8_segment(), need);
  ASSERT_EQ(found.head_variance.size(), 2U);
  EXPECT_NEAR(found.head_variance[0], 0.970903, kAtt8Tolerance);
  EXPECT_NEAR(found.head_variance[1], 1.028310, kAtt8Tolerance);
  // Two heads mapped to [0, 1] over themselves: about (0 + 1) / 2, a little less for the 1e-6 in the denominator.
  LayerStatistics layer;
  layer.by_rows.push_back(found);
  const double range = 1.175211 - 1.109603;
  const InverseVarianceAllocator allocator(InverseVarianceAllocator::Norm::kHeadMinMax);
  EXPECT_NEAR(allocator.measure(layer, att8_segment()).at(0), 0.5 * range / (range + 1e-6), kAtt8Tolerance);
}

TEST(Att8, SquaresMeansAndDeviations) {
  const MeanDeviationScorer scorer;
  LayerStatistics layer;
  layer.by_rows.push_back(attention_statistics(att8_view(), att8_segment(), scorer.needs().attention.front()));
  testing::expect_near(layer.by_rows[0].column_squares.row(0),
                       {1.844129, 0.597609, 0.148940, 0.051282, 0.363447, 0.033933, 0.009261, 0.014053});
  testing::expect_near(scorer.score(layer, att8_segment()).row(0),
                       {0.398781, 0.268965, 0.147383, 0.086534, 0.267365, 0.101787, 0.058331, 0.118546});
  testing::expect_near(scorer.protection_score(layer, att8_segment()).row(0).first(7),
                       {0.267375, 0.114152, 0.055691, 0.052614, 0.139205, 0.030827, 0.035046});
}

// P = rnd(0.3 * 5) + 1 = 3: sink 0, last 7, and 4 by deviation.
TEST(Att8, RocoKeeps) { EXPECT_EQ(kept(composition_of("roco", {{"sinks", "1"}, {"guarded", "1"}}), 5), (Rows{0, 1, 2, 4, 7})); }

using Sets = std::vector<std::vector<std::int64_t>>;

// One set from the mean of both heads: a = .299444 .299444 .401112 over rows 5, 6, 7.
TEST(Att8, EliteTokensAndImportance) {
  EliteNeed need{.alpha = 0.9, .heads = EliteNeed::Heads::kMean};
  const EliteAttention strict = elite_attention(att8_view(), att8_segment(), need);
  EXPECT_EQ(strict.visual, (std::vector<std::int64_t>{1, 2, 3, 4}));
  EXPECT_EQ(strict.elite, (Sets{{7}, {7}}));
  testing::expect_near(strict.importance.row(0), {0, 0.249689, 0.171199, 0.060704, 0.347210, 0, 0, 0});
  EXPECT_NEAR(strict.strength, 0.828801, kAtt8Tolerance);
  need.alpha = 0.6;
  const EliteAttention wide = elite_attention(att8_view(), att8_segment(), need);
  EXPECT_EQ(wide.elite, (Sets{{5, 6, 7}, {5, 6, 7}}));
  testing::expect_near(wide.importance.row(0), {0, 0.230677, 0.127649, 0.116710, 0.281330, 0, 0, 0});
  EXPECT_NEAR(wide.strength, 0.756366, kAtt8Tolerance);
  EXPECT_FALSE(wide.fallback);
}

// Each head by its own row of attention: .197776 .401112 .401112 and .401112 .197776 .401112. Rows of one head's elite see none of the
// other's.
TEST(Att8, EveryHeadHasItsOwnElite) {
  const EliteAttention found = elite_attention(att8_view(), att8_segment(), {});
  EXPECT_EQ(found.elite, (Sets{{6, 7}, {5, 7}}));
  testing::expect_near(found.importance.row(0), {0, 0.244214, 0.135827, 0.126542, 0.332177, 0, 0, 0});
  EXPECT_NEAR(found.strength, 0.838760, kAtt8Tolerance);
  EXPECT_NEAR(found.skew, 0.646521, kAtt8Tolerance);
  // All three pass where the threshold is under .197776 / .401112 = .493.
  EXPECT_EQ(elite_attention(att8_view(), att8_segment(), {.alpha = 0.45}).elite, (Sets{{5, 6, 7}, {5, 6, 7}}));
}

// The top 1 - alpha of three rows: one (equal ones: the smaller), two, all; never none.
TEST(Att8, EliteByShare) {
  using Heads = EliteNeed::Heads;
  const auto elite = [](double alpha, Heads heads) {
    return elite_attention(att8_view(), att8_segment(), {.alpha = alpha, .heads = heads, .rule = EliteNeed::Rule::kShare});
  };
  EXPECT_EQ(elite(1.0, Heads::kEach).elite, (Sets{{6}, {5}}));
  const EliteAttention one = elite(0.9, Heads::kEach);
  EXPECT_EQ(one.elite, (Sets{{6}, {5}}));
  testing::expect_near(one.importance.row(0), {0, 0.274374, 0.125694, 0.201044, 0.368330, 0, 0, 0});
  EXPECT_NEAR(one.strength, 0.969442, kAtt8Tolerance);
  EXPECT_NEAR(one.skew, 0.223649, kAtt8Tolerance);
  EXPECT_EQ(elite(0.6, Heads::kEach).elite, (Sets{{6, 7}, {5, 7}}));
  EXPECT_EQ(elite(0.3, Heads::kEach).elite, (Sets{{5, 6, 7}, {5, 6, 7}}));
  EXPECT_EQ(elite(0.9, Heads::kMean).elite, (Sets{{7}, {7}}));
  const EliteAttention two = elite(0.6, Heads::kMean);
  EXPECT_EQ(two.elite, (Sets{{5, 7}, {5, 7}}));
  testing::expect_near(two.importance.row(0), {0, 0.226918, 0.153626, 0.047997, 0.392826, 0, 0, 0});
}

// Numbers that do not compare make nobody elite but the last token, and leave no trace in the other head's judgement.
TEST(Att8, EliteOfNonFiniteAttention) {
  LayerView view = att8_view();
  view.query = view.query.clone();
  view.query[1].fill_(std::numeric_limits<float>::quiet_NaN());
  for (const EliteNeed::Rule rule : {EliteNeed::Rule::kMaximum, EliteNeed::Rule::kShare}) {
    const EliteAttention found = elite_attention(view, att8_segment(), {.rule = rule});
    EXPECT_EQ(found.elite[0], rule == EliteNeed::Rule::kMaximum ? (std::vector<std::int64_t>{6, 7}) : (std::vector<std::int64_t>{6}));
    EXPECT_EQ(found.elite[1].size(), 1U);
  }
}

TEST(Att8, AirCacheKeepsTheBestVisualTokensAndAllText) { EXPECT_EQ(kept(composition_of("aircache"), 2), (Rows{0, 1, 4, 5, 6, 7})); }

TEST(Att8, RandomKeeps) {
  EXPECT_EQ(kept(composition_of("random", {}, 1234), 4), (Rows{0, 1, 4, 7}));
  LayerStatistics layer;
  layer.layer = LayerId(1);
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
