// Token pruning on the eight-token fixture, against dense attention, and the rounding of shares.
#include "engine/compression/token_pruner.h"

#include <gtest/gtest.h>

#include "engine/base/error.h"
#include "engine/compression/statistics/attention_statistics.h"
#include "tests/engine/compression/layer_fixture.h"

namespace winnow {
namespace {

using testing::att8_segment;
using testing::att8_view;
using Rows = std::vector<std::int32_t>;

Recipe recipe_of(const std::string& method, double retention, std::map<std::string, std::string> options = {}) {
  RecipeSpec spec{.method = method, .retention = retention, .options = std::move(options)};
  return Recipe::from_spec(spec);
}

TEST(TokenPruner, JudgesByTheLastRow) {
  std::vector<double> weights(8, 0.0);
  weights.back() = 1.0;
  const std::vector<double> phi = weighted_columns(att8_view(), weights);
  const double expected[] = {.169592, .118546, .041231, .240424};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(phi[i + 1], expected[i], 1e-5);
}

TEST(TokenPruner, JudgesByWhatAllRowsGive) {
  const std::vector<double> weights(8, 1.0 / 8.0);
  const std::vector<double> phi = weighted_columns(att8_view(), weights);
  const double expected[] = {.235344, .110538, .054084, .133682};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(phi[i + 1], expected[i], 1e-5);
}

TEST(TokenPruner, KeepsTheBestVisualTokensAndAllText) {
  for (const char* phi : {"last-row", "received"}) {
    const Recipe recipe = recipe_of("fastv", 0.5, {{"phi", phi}});
    TokenPruner pruner(recipe, att8_segment(4));
    EXPECT_EQ(pruner.layer(), 2);
    pruner.on_layer(att8_view(LayerId(0)));
    pruner.on_layer(att8_view(LayerId(1)));
    EXPECT_EQ(pruner.kept_rows(), (Rows{0, 1, 4, 5, 6, 7})) << phi;
  }
}

TEST(TokenPruner, RolloutGoesThroughTwoLayers) {
  const Recipe recipe = recipe_of("ivtp", 0.25);
  const SegmentInfo segment = att8_segment(4);
  TokenPruner pruner(recipe, segment);
  const LayerView first = att8_view(LayerId(0));
  LayerView second = testing::random_view(LayerId(1), 2, 1, 8, 2);
  testing::set_log_sum_exp(second);
  pruner.on_layer(first);
  pruner.on_layer(second);
  // Dense: the mean over the text after the images of the product of (A + I) / 2, the later layer on the left.
  const auto half = [](const LayerView& view) {
    at::Tensor mean = at::zeros({8, 8}, at::kDouble);
    for (const at::Tensor& logits : testing::dense_logits(view)) mean += at::softmax(logits, 1) / 2.0;
    return (mean + at::eye(8, at::kDouble)) / 2.0;
  };
  const at::Tensor rollout = at::mm(half(second), half(first)).narrow(0, 5, 3).mean(0);
  std::vector<std::pair<double, std::int32_t>> best;
  for (std::int32_t row = 1; row <= 4; ++row) best.emplace_back(-rollout[row].item<double>(), row);
  std::sort(best.begin(), best.end());
  Rows expected = {0, best[0].second, best[1].second, 5, 6, 7};  // half of four visual tokens
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(pruner.kept_rows(), expected);
}

TEST(TokenPruner, RoundsAsFastV) {
  EXPECT_EQ(kept_visual_tokens(900, 0.5), 450);
  // n = 1000, K = 2, L = 32: two layers hold all, thirty the rest.
  EXPECT_EQ(2 * 1000 + 30 * (1000 - 900 + kept_visual_tokens(900, 0.5)), 18500);
  EXPECT_EQ(kept_visual_tokens(5, 0.5), 2);  // 5 - rnd(2.5)
  EXPECT_EQ(kept_visual_tokens(5, 1.0), 5);
}

TEST(TokenPruner, DoesNothingWithoutVisualTokensOrLayers) {
  const std::vector<Modality> text(6, Modality::kText);
  EXPECT_FALSE(TokenPruner(recipe_of("fastv", 0.5), testing::segment_of(text, 4, 2, 1)).wants_views());
  EXPECT_FALSE(TokenPruner(recipe_of("fastv", 0.5, {{"layer", "4"}}), att8_segment(4)).wants_views());
  EXPECT_FALSE(TokenPruner(recipe_of("fastervlm", 0.5), att8_segment(4)).wants_views());  // its work was done before the decoder
  EXPECT_FALSE(recipe_of("fastv", 1.0).prunes());
}

TEST(TokenPruner, IsNoCompressionOfTheCache) {
  const Recipe recipe = recipe_of("fastv", 0.5);
  EXPECT_TRUE(recipe.prunes());
  EXPECT_FALSE(recipe.compresses());
  EXPECT_FALSE(recipe.shares_prefill());
  RecipeSpec spec{.method = "fastv", .allocator = "uniform"};
  EXPECT_THROW(Recipe::from_spec(spec), Exception);
  spec = {};
  spec.method = "fastervlm";
  spec.budget_tokens = 100;
  EXPECT_THROW(Recipe::from_spec(spec), Exception);
  EXPECT_THROW(recipe_of("fastv", 0.5, {{"layer", "0"}}), Exception);
}

}  // namespace
}  // namespace winnow
