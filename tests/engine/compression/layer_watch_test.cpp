// Queries of zeros attend evenly to all that they see, so that every number is a sum of fractions: with n = 4 tokens the column sums are
// 1 + 1/2 + 1/3 + 1/4 = 25/12, then 13/12, 7/12 and 1/4.
#include "engine/compression/layer_watch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "engine/base/error.h"
#include "tests/engine/compression/layer_fixture.h"
#include "tests/engine/compression/named_composition.h"

namespace winnow {
namespace {

using testing::segment_of;

const std::vector<Modality> kVisualFour(4, Modality::kVisual);
constexpr float kSums[] = {25.0F / 12, 13.0F / 12, 7.0F / 12, 1.0F / 4};

Recipe watched_recipe(const std::string& method, const std::map<std::string, std::string>& options = {}) {
  RecipeSpec spec;
  spec.method = method;
  spec.retention = 0.5;
  spec.options = options;
  return Recipe::from_spec(spec);
}

LayerView even_view(LayerId layer, const std::vector<std::int64_t>& past = {}) {
  LayerView view = testing::random_view(layer, 2, 2, 4, 8, past);
  view.query.zero_();
  testing::set_log_sum_exp(view);
  return view;
}

void expect_row(std::span<const float> found, std::span<const float> expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-6) << i;
}

void see(LayerWatch& watch, const LayerView& view) {
  StatisticsMemo memo;
  watch.see(view, memo);
}

TEST(LayerWatch, SumsWhatEveryTokenGot) {
  const Recipe recipe = watched_recipe("h2o");
  const CandidateSets sets(segment_of(kVisualFour, 2, 2, 2));
  LayerWatch watch(recipe, sets, 2, /*for_event=*/true, /*follows=*/true);
  ASSERT_TRUE(watch.wants_views());
  see(watch, even_view(LayerId(1)));
  EXPECT_TRUE(watch.has_seen(LayerId(1)));
  EXPECT_FALSE(watch.has_seen_all());
  see(watch, even_view(LayerId(0)));
  EXPECT_TRUE(watch.has_seen_all());
  for (KvHead head{0}; head < 2; ++head) {
    expect_row(watch.row_of(watch.scores(LayerId(1)), LayerId(1), head), kSums);
    expect_row(watch.accumulated(LayerId(1), head).sums, kSums);
  }
  EXPECT_TRUE(watch.accumulated(LayerId(0), KvHead(0)).past_sums.empty());
  EXPECT_THROW(see(watch, even_view(LayerId(0))), Exception) << "each layer once";
}

// Two slots of an earlier turn: the four rows see 3, 4, 5 and 6 keys.
TEST(LayerWatch, SumsWhatEarlierSlotsGotToo) {
  const Recipe recipe = watched_recipe("h2o");
  const CandidateSets sets(segment_of(kVisualFour, 1, 2, 2, 10));
  LayerWatch watch(recipe, sets, 1, true, true);
  see(watch, even_view(LayerId(0), {2, 2}));
  const AccumulatedAttention found = watch.accumulated(LayerId(0), KvHead(1));
  const float all = 1.0F / 3 + 1.0F / 4 + 1.0F / 5 + 1.0F / 6;
  expect_row(found.past_sums, std::vector<float>{all, all});
  expect_row(found.sums, std::vector<float>{all, all - 1.0F / 3, 1.0F / 5 + 1.0F / 6, 1.0F / 6});
}

TEST(LayerWatch, WithoutAnEventOnlyFollowsAttention) {
  const Recipe recipe = watched_recipe("h2o");
  const CandidateSets sets(segment_of(kVisualFour, 1, 2, 2));
  LayerWatch watch(recipe, sets, 1, /*for_event=*/false, /*follows=*/true);
  see(watch, even_view(LayerId(0)));
  expect_row(watch.accumulated(LayerId(0), KvHead(0)).sums, kSums);
  EXPECT_TRUE(watch.measured().empty());
  EXPECT_TRUE(watch.protection(LayerId(0), KvHead(0)).empty());
  EXPECT_FALSE(LayerWatch(recipe, sets, 1, false, false).wants_views());
}

TEST(LayerWatch, NeedsNoViewsWherePositionsDecide) {
  const Recipe recipe = watched_recipe("streaming-llm");
  const CandidateSets sets(segment_of(kVisualFour, 1, 2, 2));
  const LayerWatch watch(recipe, sets, 1, true, true);
  EXPECT_FALSE(watch.wants_views());
  EXPECT_FALSE(watch.has_accumulated());
  const auto scores = watch.scores_without_views(LayerId(0));
  const std::span<const float> of_head = watch.row_of(scores, LayerId(0), KvHead(1));
  ASSERT_EQ(of_head.size(), 4U);
  EXPECT_TRUE(std::is_sorted(of_head.begin(), of_head.end())) << "the newest ranks first";
}

// One score for all heads of a layer: the mean of theirs.
TEST(LayerWatch, JoinsHeadsWhereTheRecipeDecidesPerLayer) {
  LayerView view = even_view(LayerId(0));
  view.query[1][3].copy_(50.0 * view.key[1][0]);  // head 1: the last row looks at token 0 alone
  testing::set_log_sum_exp(view);
  const CandidateSets sets(segment_of(kVisualFour, 1, 2, 2));
  RecipeSpec spec;
  spec.method = "h2o";
  spec.retention = 0.5;
  spec.granularity = "layer";
  const Recipe recipe = Recipe::from_spec(spec);
  LayerWatch watch(recipe, sets, 1, true, true);
  see(watch, view);
  const std::vector<float> mean = {kSums[0] + 3.0F / 8, kSums[1] - 1.0F / 8, kSums[2] - 1.0F / 8, kSums[3] - 1.0F / 8};
  for (KvHead head{0}; head < 2; ++head) expect_row(watch.row_of(watch.scores(LayerId(0)), LayerId(0), head), mean);
  expect_row(watch.accumulated(LayerId(0), KvHead(0)).sums, kSums);  // what is followed stays each head's own
}

TEST(LayerWatch, WhatIsNotFiniteRanksLastAndIsCounted) {
  const Recipe recipe = watched_recipe("h2o");
  const CandidateSets sets(segment_of(kVisualFour, 1, 2, 2));
  LayerView view = even_view(LayerId(0));
  view.log_sum_exp[0][3] = std::numeric_limits<float>::quiet_NaN();  // head 0: its last row reaches all four columns
  LayerWatch watch(recipe, sets, 1, true, true);
  see(watch, view);
  EXPECT_EQ(watch.non_finite(), 4);
  for (const float score : watch.row_of(watch.scores(LayerId(0)), LayerId(0), KvHead(0)))
    EXPECT_EQ(score, -std::numeric_limits<float>::infinity());
  expect_row(watch.row_of(watch.scores(LayerId(0)), LayerId(0), KvHead(1)), kSums);
}

TEST(LayerWatch, TheFirstAnswerTokenAddsItsRowAndAColumn) {
  const Recipe recipe = watched_recipe("d2o", {{"event_at_first_decode", "true"}, {"skip_layers", "false"}});
  std::vector<Modality> modality = kVisualFour;
  CandidateSets sets(segment_of(modality, 1, 2, 2));
  LayerWatch watch(recipe, sets, 1, true, true);
  see(watch, even_view(LayerId(0)));
  modality.push_back(Modality::kText);
  sets = CandidateSets(segment_of(modality, 1, 2, 2));
  DecodeRow row;
  row.probabilities = {{0.5F, 0.0F, 0.0F, 0.25F, 0.25F}, {0.2F, 0.2F, 0.2F, 0.2F, 0.2F}};
  watch.see_first_token(LayerId(0), row);
  const std::vector<float> sums = {kSums[0] + 0.5F, kSums[1], kSums[2], kSums[3] + 0.25F, 0.25F};
  expect_row(watch.accumulated(LayerId(0), KvHead(0)).sums, sums);
  expect_row(watch.row_of(watch.scores(LayerId(0)), LayerId(0), KvHead(0)), sums);
}

}  // namespace
}  // namespace winnow
