#include "engine/recipes/budget.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <random>

namespace winnow {
namespace {

using Budgets = std::vector<std::int64_t>;

Budgets give(std::vector<double> weights, std::int64_t total, std::int64_t low, std::int64_t high) {
  const std::vector<std::int64_t> lows(weights.size(), low);
  const std::vector<std::int64_t> highs(weights.size(), high);
  return allocate(weights, total, lows, highs);
}

// Rows R1 to R7 of the methods' integer rules.
TEST(Allocate, FollowsTheFixtureTable) {
  EXPECT_EQ(give({3, 2, 1}, 12, 1, 8), (Budgets{6, 4, 2}));
  EXPECT_EQ(give({10, 1, 1}, 12, 1, 5), (Budgets{5, 4, 3}));
  EXPECT_EQ(give({8, 1, 0}, 10, 2, 7), (Budgets{6, 2, 2}));
  EXPECT_EQ(give({1, 1, 1}, 10, 1, 8), (Budgets{4, 3, 3}));
  EXPECT_EQ(give({0, 0, 0}, 7, 1, 8), (Budgets{3, 2, 2}));
  EXPECT_EQ(give({5, 3, 1, 1}, 6, 2, 8), (Budgets{2, 2, 2, 2}));
  EXPECT_EQ(give({20, 6, 1}, 18, 2, 8), (Budgets{8, 8, 2}));
}

TEST(Allocate, FollowsTheSparsityTable) {
  EXPECT_EQ(give({0.60, 0.25, 0.10}, 75, 1, 100), (Budgets{47, 20, 8}));
  EXPECT_EQ(give({0.60, 0.25, 0.10}, 180, 1, 100), (Budgets{100, 57, 23}));
  EXPECT_EQ(give({0.80, 0.05, 0.001}, 30, 1, 100), (Budgets{27, 2, 1}));
  EXPECT_EQ(allocate_without_redistribution(std::vector<double>{0.60, 0.25, 0.10}, 180, 100), (Budgets{100, 47, 19}));
}

TEST(Allocate, FollowsOtherAllocatorTables) {
  EXPECT_EQ(give({1.145209 + 1.5, 0.869152 + 0.9, 0.985639 + 0.6}, 6, 1, 5), (Budgets{3, 2, 1}));
  EXPECT_EQ(give({1.145209 + 1.5, 0.869152 + 0.9, 0.985639 + 0.6}, 10, 1, 5), (Budgets{4, 3, 3}));
  EXPECT_EQ(give({0.628532, 0.231224, 0.140244}, 30, 1, 50), (Budgets{19, 7, 4}));
  EXPECT_EQ(give({0.628532, 0.231224, 0.140244}, 90, 1, 50), (Budgets{50, 25, 15}));
  EXPECT_EQ(give({0.662191, 0.297541, 0.040268}, 36, 1, 40), (Budgets{24, 11, 1}));
}

TEST(Allocate, TreatsUnusableWeightsAsZero) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(give({nan, 1, 1}, 10, 1, 8), (Budgets{1, 5, 4}));
  EXPECT_EQ(give({inf, -1, nan}, 7, 1, 8), (Budgets{3, 2, 2}));
  EXPECT_EQ(give({1e308, 1e308, 1e308}, 9, 1, 8), (Budgets{3, 3, 3}));
}

TEST(Allocate, GivesTheExactTotalInsideTheBounds) {
  std::mt19937 random(7);
  const auto pick = [&](std::int64_t low, std::int64_t high) { return std::uniform_int_distribution<std::int64_t>(low, high)(random); };
  for (int round = 0; round < 2000; ++round) {
    const std::int64_t layers = pick(1, 40);
    const std::int64_t high = pick(1, 5000);
    const std::int64_t low = pick(0, high);
    const std::int64_t total = pick(layers * low, layers * high);
    std::vector<double> weights(static_cast<std::size_t>(layers));
    for (double& weight : weights) weight = std::pow(10.0, static_cast<double>(pick(-12, 12))) * static_cast<double>(pick(0, 3));
    const Budgets budgets = give(weights, total, low, high);
    ASSERT_EQ(std::accumulate(budgets.begin(), budgets.end(), std::int64_t{0}), total) << "round " << round;
    for (std::size_t a = 0; a < budgets.size(); ++a) {
      ASSERT_GE(budgets[a], low);
      ASSERT_LE(budgets[a], high);
      for (std::size_t b = 0; b < budgets.size(); ++b) {
        if (weights[a] <= weights[b]) continue;
        ASSERT_GE(budgets[a] + 1, budgets[b]) << "round " << round;  // heavier never gets clearly less
      }
    }
  }
}

TEST(TotalBudget, RoundsOnce) {
  EXPECT_EQ(total_budget({0.25, {}}, 3, 100), 75);
  EXPECT_EQ(total_budget({0.5, {}}, 1, 15), 8);  // 7.5 rounds up
  EXPECT_EQ(total_budget({1.0, {}}, 28, 12345), 28 * 12345);
  EXPECT_EQ(total_budget({1e-9, {}}, 2, 10), 0);
  EXPECT_EQ(total_budget({0.3, 64}, 2, 100), 128);  // the absolute number wins
  EXPECT_EQ(total_budget({0.3, 64}, 2, 10), 20);
}

TEST(LowerBound, CountsProtectedSlotsAndTheLeastShare) {
  EXPECT_EQ(lower_bound_slots({0.5, {}}, 100, 0, 0.0), 1);
  EXPECT_EQ(lower_bound_slots({0.5, {}}, 100, 33, 0.0), 33);
  EXPECT_EQ(lower_bound_slots({0.5, {}}, 20, 33, 0.0), 20);
  EXPECT_EQ(lower_bound_slots({0.5, {}}, 1000, 1, 0.01), 10);
  EXPECT_EQ(lower_bound_slots({0.02, {}}, 1000, 1, 0.01), 10);
  EXPECT_EQ(lower_bound_slots({0.01, {}}, 1000, 1, 0.01), 10);
  EXPECT_EQ(lower_bound_slots({0.004, {}}, 1000, 1, 0.01), 4);  // the request itself, where it is below the least share
  EXPECT_EQ(lower_bound_slots({0.0041, {}}, 1000, 1, 0.01), 5);
  EXPECT_EQ(lower_bound_slots({1.0, 4}, 1000, 1, 0.01), 4);  // 4 of 1000 is the same share
  EXPECT_EQ(lower_bound_slots({0.5, {}}, 0, 5, 0.0), 0);
}

TEST(ShareOf, RoundsHalfUpAndKeepsOne) {
  EXPECT_EQ(share_of(0.10, 4), 1);
  EXPECT_EQ(share_of(0.75, 6), 5);
  EXPECT_EQ(share_of(0.10, 25), 3);
  EXPECT_EQ(share_of(1.0, 7), 7);
  EXPECT_EQ(share_of(0.5, 0), 0);
}

}  // namespace
}  // namespace winnow
