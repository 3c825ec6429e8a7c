// Budgets of three layers, in plain numbers.
#include "engine/recipes/event_budgets.h"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "tests/engine/compression/named_composition.h"

namespace winnow {
namespace {

using Slots = std::vector<std::int64_t>;

Recipe recipe_of(const char* method, double retention, const std::map<std::string, std::string>& options = {}) {
  RecipeSpec spec{.method = method, .retention = retention, .options = options};
  return Recipe::from_spec(spec);
}

std::vector<LayerDemand> layers(std::int64_t count, const LayerDemand& each) {
  return std::vector<LayerDemand>(static_cast<std::size_t>(count), each);
}

std::vector<LayerMeasure> measures(const std::vector<double>& numbers) {
  std::vector<LayerMeasure> measured;
  for (const double number : numbers) measured.push_back({number});
  return measured;
}

TEST(EventBudgets, NothingHappensWhereNothingCompetesOrAllMayStay) {
  const Recipe half = recipe_of("h2o", 0.5);
  EXPECT_FALSE(EventBudgets(half, {}, std::nullopt).take_place());
  EXPECT_FALSE(EventBudgets(half, layers(3, {0, 0, 0}), std::nullopt).take_place());
  EXPECT_FALSE(EventBudgets(recipe_of("h2o", 1.0), layers(3, {100, 1, 0}), std::nullopt).take_place());
  EXPECT_FALSE(EventBudgets(half, layers(3, {10, 10, 0}), std::nullopt).take_place()) << "all of it is protected";
  EXPECT_TRUE(EventBudgets(half, layers(3, {100, 1, 0}), std::nullopt).take_place());
}

TEST(EventBudgets, SharesTheTotalByTheAllocatorsWeights) {
  // VL-Cache: weights are shares of what is not near zero.
  const Recipe recipe = recipe_of("vl-cache", 0.2);
  EventBudgets budgets(recipe, layers(3, {100, 1, 0}), std::nullopt);
  ASSERT_TRUE(budgets.take_place());
  EXPECT_FALSE(budgets.decided());
  EXPECT_EQ(budgets.foreseen(), (Slots{20, 20, 20}));
  const std::vector<double> weights = recipe.composition().allocator->weights(measures({0.5, 0.7, 0.8}));
  EXPECT_EQ(budgets.decide(measures({0.5, 0.7, 0.8})), 0);
  ASSERT_TRUE(budgets.decided());
  EXPECT_EQ(budgets.slots(), allocate(weights, 60, Slots(3, 1), Slots(3, 100)));
  EXPECT_EQ(budgets.slots(), (Slots{30, 18, 12}));
  EXPECT_EQ(budgets.foreseen(), budgets.slots());
}

TEST(EventBudgets, WholeHeadsAreRounded) {
  const std::map<std::string, std::string> scores = {{"head_scores", "0.9:0.6/0.8:0.9"}};
  const auto total = [&](double retention) {
    return EventBudgets(recipe_of("kvzip-head", retention, scores), layers(2, {4, 0, 0}), std::nullopt, 2).total();
  };
  EXPECT_EQ(total(0.5), 8);
  EXPECT_EQ(total(0.6), 8) << "2.4 of 4 heads";
  EXPECT_EQ(total(0.7), 12);
  EXPECT_EQ(total(0.1), 0) << "no head keeps anything";
  EXPECT_FALSE(EventBudgets(recipe_of("kvzip-head", 0.9, scores), layers(2, {4, 0, 0}), std::nullopt, 2).take_place());
  RecipeSpec two{.method = "kvzip-head", .budget_tokens = 2, .options = scores};
  EXPECT_EQ(EventBudgets(Recipe::from_spec(two), layers(2, {4, 0, 0}), std::nullopt, 2).total(), 8)
      << "2 of 4 tokens are half of the heads";
}

// The row of the share that was asked for, of all tokens seen too: 60 of 200 are 30 %, a third of the way from 20 to 50 %.
TEST(EventBudgets, TellTheAllocatorTheShareAskedFor) {
  const auto slots = [](double retention, std::optional<std::int64_t> seen) {
    const Recipe recipe = recipe_of("prefixkv-profile", retention, {{"profile", "0.2=0.1:0.3/0.5=0.61:0.39"}});
    EventBudgets budgets(recipe, layers(2, {100, 2, 0}), seen);
    budgets.decide(std::vector<LayerMeasure>(2));
    return budgets.slots();
  };
  EXPECT_EQ(slots(0.2, std::nullopt), (Slots{10, 30}));
  EXPECT_EQ(slots(0.5, std::nullopt), (Slots{61, 39}));
  EXPECT_EQ(slots(0.3, std::nullopt), (Slots{27, 33}));
  EXPECT_EQ(slots(0.3, 200), (Slots{54, 66}));
}

TEST(EventBudgets, CountsWeightsThatAreNotFinite) {
  const Recipe recipe = recipe_of("vl-cache", 0.2);
  EventBudgets budgets(recipe, layers(3, {100, 1, 0}), std::nullopt);
  EXPECT_EQ(budgets.decide(measures({0.5, std::numeric_limits<double>::quiet_NaN(), 0.5})), 1);
  EXPECT_EQ(std::accumulate(budgets.slots().begin(), budgets.slots().end(), std::int64_t{0}), 60);
  EXPECT_EQ(budgets.slots()[1], 1);
}

TEST(EventBudgets, SaysWhenProtectionAsksForMore) {
  const Recipe tenth = recipe_of("h2o", 0.1);
  EventBudgets floor(tenth, layers(3, {100, 15, 0}), std::nullopt);
  EXPECT_TRUE(floor.raised_to_floor());
  EXPECT_FALSE(floor.pins_above_budget());
  floor.decide(std::vector<LayerMeasure>(3));
  EXPECT_EQ(floor.slots(), (Slots{15, 15, 15}));
  const EventBudgets pins(tenth, layers(3, {100, 15, 14}), std::nullopt);
  EXPECT_TRUE(pins.pins_above_budget());
  EXPECT_FALSE(pins.raised_to_floor()) << "one reason is told";
  EXPECT_FALSE(EventBudgets(tenth, layers(3, {100, 2, 1}), std::nullopt).raised_to_floor());
}

// Turn policy whole: the share is of all tokens seen, most of which are gone already.
TEST(EventBudgets, AShareIsOfWhatWasSeen) {
  const Recipe tenth = recipe_of("h2o", 0.1);
  EventBudgets budgets(tenth, layers(3, {100, 1, 0}), 600);
  budgets.decide(std::vector<LayerMeasure>(3));
  EXPECT_EQ(budgets.slots(), (Slots{60, 60, 60}));
  EXPECT_FALSE(EventBudgets(tenth, layers(3, {50, 1, 0}), 600).take_place()) << "what is left is less than the share";
}

TEST(EventBudgets, OuterLayersAreLeftAloneWhereTheRecipeSaysSo) {
  const Recipe recipe = recipe_of("d2o", 0.7, {{"skip_layers", "true"}});
  EventBudgets budgets(recipe, layers(5, {100, 1, 0}), std::nullopt);
  budgets.decide(measures({1, 1, 1, 1, 1}));
  EXPECT_EQ(budgets.slots(), (Slots{100, 100, 25, 25, 100}));
}

}  // namespace
}  // namespace winnow
