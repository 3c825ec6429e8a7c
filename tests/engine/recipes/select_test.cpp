#include "engine/recipes/select.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <random>
#include <tuple>

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

// Few scores and many, with ties, what is no number, and rows that are taken first.
TEST(SelectRows, EqualsSortingOnRandomScores) {
  const float inf = std::numeric_limits<float>::infinity();
  const float odd[] = {0.0F, -0.0F, inf, -inf, std::numeric_limits<float>::quiet_NaN(), 1e-40F, -1e-40F};
  std::mt19937 random(3);
  for (int round = 0; round < 520; ++round) {
    const int n = std::uniform_int_distribution<int>(1, round < 500 ? 60 : 20'000)(random);
    const int k = std::uniform_int_distribution<int>(0, n)(random);
    std::vector<float> scores(static_cast<std::size_t>(n));
    for (float& score : scores) {
      score = round % 3 == 0   ? static_cast<float>(std::uniform_int_distribution<int>(-3, 3)(random))  // many ties
              : round % 3 == 1 ? odd[random() % std::size(odd)]
                               : std::lognormal_distribution<float>(-5.0F, 2.0F)(random);
    }
    Rows order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    std::ranges::shuffle(order, random);
    const Rows forced(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(random() % static_cast<std::size_t>(n)) / 4);
    std::ranges::sort(order);
    const auto place = [&](std::int32_t row) {
      const auto found = std::ranges::find(forced, row);
      const float score = scores[static_cast<std::size_t>(row)];
      return std::tuple(found - forced.begin(), std::isnan(score) ? inf : -score);
    };
    std::ranges::stable_sort(order, {}, place);
    order.resize(static_cast<std::size_t>(k));
    std::ranges::sort(order);
    ASSERT_EQ(select_rows(scores, k, forced), order) << "round " << round;
  }
}

}  // namespace
}  // namespace winnow
