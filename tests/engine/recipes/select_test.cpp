#include "engine/recipes/select.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

namespace winnow {
namespace {

using Rows = std::vector<std::int32_t>;

TEST(SelectRows, FollowsTheFixture) {
  const std::vector<float> scores = {0.2F, 0.5F, 0.5F, 0.1F, 0.5F, 0.3F};
  EXPECT_EQ(select_rows(scores, 3, Rows{5}), (Rows{1, 2, 5}));
}

TEST(SelectRows, BreaksTiesBySmallerRow) {
  EXPECT_EQ(select_rows(std::vector<float>(6, 1.0F), 3, Rows{}), (Rows{0, 1, 2}));
  EXPECT_EQ(select_rows(std::vector<float>{-0.0F, 0.0F, -0.0F}, 2, Rows{}), (Rows{0, 1}));  // -0 equals 0
}

TEST(SelectRows, RanksNanAndMinusInfinityLast) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(select_rows(std::vector<float>{nan, -5.0F, -inf, inf, -1e-40F}, 3, Rows{}), (Rows{1, 3, 4}));
  EXPECT_EQ(select_rows(std::vector<float>{nan, -inf, 0.0F}, 2, Rows{}), (Rows{0, 2}));  // NaN ties with -inf
}

TEST(SelectRows, CutsProtectedRowsByImportance) {
  const std::vector<float> scores(10, 0.0F);
  const Rows forced = protected_rows(10, 2, 3);
  EXPECT_EQ(forced, (Rows{9, 8, 7, 0, 1}));
  EXPECT_EQ(select_rows(scores, 0, forced), (Rows{}));
  EXPECT_EQ(select_rows(scores, 1, forced), (Rows{9}));
  EXPECT_EQ(select_rows(scores, 4, forced), (Rows{0, 7, 8, 9}));
  EXPECT_EQ(select_rows(scores, 6, forced), (Rows{0, 1, 2, 7, 8, 9}));
  EXPECT_EQ(select_rows(scores, 10, forced).size(), 10U);
}

TEST(ProtectedRows, ListEachRowOnce) {
  EXPECT_EQ(protected_rows(3, 4, 2), (Rows{2, 1, 0}));
  EXPECT_EQ(protected_rows(3, 0, 0), (Rows{2}));  // the last token always
  EXPECT_EQ(protected_rows(1, 4, 8), (Rows{0}));
}

TEST(SelectRows, EqualsSortingOnRandomScores) {
  std::mt19937 random(3);
  for (int round = 0; round < 500; ++round) {
    const int n = std::uniform_int_distribution<int>(1, 60)(random);
    const int k = std::uniform_int_distribution<int>(0, n)(random);
    std::vector<float> scores(static_cast<std::size_t>(n));
    for (float& score : scores) score = static_cast<float>(std::uniform_int_distribution<int>(-3, 3)(random));  // many ties
    Rows order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
      return scores[static_cast<std::size_t>(a)] > scores[static_cast<std::size_t>(b)];
    });
    order.resize(static_cast<std::size_t>(k));
    std::sort(order.begin(), order.end());
    ASSERT_EQ(select_rows(scores, k, Rows{}), order) << "round " << round;
  }
}

}  // namespace
}  // namespace winnow
