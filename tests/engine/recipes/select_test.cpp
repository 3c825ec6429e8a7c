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

using RowsOfHeads = std::vector<std::vector<std::int32_t>>;

// Two layers of two heads over four rows; the numbers' pairs can be ranked by hand.
const std::vector<std::vector<float>> kScores = {
    {0.9F, 0.5F, 0.1F, 0.3F}, {0.2F, 0.2F, 0.6F, 0.05F}, {0.4F, 0.8F, 0.7F, 0.1F}, {0.05F, 0.02F, 0.03F, 0.9F}};

RowsOfHeads best(std::int64_t pairs, std::vector<std::int32_t> forced = {}, std::int64_t floor_slots = 0) {
  const std::vector<std::span<const float>> heads(kScores.begin(), kScores.end());
  return select_pairs(heads, pairs, forced, floor_slots);
}

TEST(PairChoice, KeepsTheBestPairsOfAllHeads) {
  EXPECT_EQ(best(8), (RowsOfHeads{{0, 1, 3}, {2}, {0, 1, 2}, {3}}));
  EXPECT_EQ(best(4), (RowsOfHeads{{0}, {}, {1, 2}, {3}}));
}

TEST(PairChoice, ForcedRowsOfEveryHeadComeFirstAndCount) {
  EXPECT_EQ(best(8, {0}), (RowsOfHeads{{0}, {0, 2}, {0, 1, 2}, {0, 3}}));
  EXPECT_EQ(best(4, {0}), (RowsOfHeads{{0}, {0}, {0}, {0}}));
}

TEST(PairChoice, HeadsOfALayerCompeteAmongThemselves) {
  const std::vector<std::span<const float>> first(kScores.begin(), kScores.begin() + 2);
  EXPECT_EQ(select_pairs(first, 4, {}, 0), (RowsOfHeads{{0, 1, 3}, {2}}));
  const std::vector<std::span<const float>> second(kScores.begin() + 2, kScores.end());
  EXPECT_EQ(select_pairs(second, 4, {}, 0), (RowsOfHeads{{0, 1, 2}, {3}}));
}

TEST(PairChoice, AFloorLeavesNoHeadEmpty) {
  EXPECT_EQ(best(4, {}, 1), (RowsOfHeads{{0}, {2}, {1}, {3}}));
  EXPECT_EQ(best(5, {}, 1), (RowsOfHeads{{0}, {2}, {1, 2}, {3}}));
}

TEST(PairChoice, TiesGoToTheLowerHeadAndThenToTheLowerRow) {
  const std::vector<float> alike(3, 0.5F);
  const std::vector<std::span<const float>> heads = {alike, alike};
  EXPECT_EQ(select_pairs(heads, 2, {}, 0), (RowsOfHeads{{0, 1}, {}}));
  EXPECT_EQ(select_pairs(heads, 4, {}, 0), (RowsOfHeads{{0, 1, 2}, {0}}));
}

// Against sorting all pairs, with forced rows and floors of each head's own.
TEST(PairChoice, EqualsSortingOnRandomScores) {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::vector<float>> scores(1 + random() % 5);
    std::vector<std::vector<std::int32_t>> forced(scores.size());
    std::vector<CompetingHead> heads;
    std::int64_t all = 0;
    for (std::size_t head = 0; head < scores.size(); ++head) {
      scores[head].resize(random() % (round < 290 ? 30 : 3000));
      for (float& score : scores[head]) score = static_cast<float>(random() % 6);
      for (std::size_t row = 0; row < scores[head].size(); ++row) {
        if (random() % 8 == 0) forced[head].push_back(static_cast<std::int32_t>(row));
      }
      heads.push_back({scores[head], forced[head], static_cast<std::int64_t>(random() % 4)});
      all += std::ssize(scores[head]);
    }
    const auto pairs = static_cast<std::int64_t>(random() % static_cast<std::size_t>(all + 3));

    RowsOfHeads expected(heads.size());
    std::vector<std::tuple<float, std::size_t, std::int32_t>> rest;
    std::int64_t left = pairs;
    for (std::size_t head = 0; head < heads.size(); ++head) {
      const std::int64_t wanted = std::max(std::ssize(forced[head]), heads[head].floor_slots);
      expected[head] = select_rows(scores[head], std::min({wanted, left, std::ssize(scores[head])}), forced[head]);
      left -= std::ssize(expected[head]);
      for (const std::int32_t row : rows_outside(std::ssize(scores[head]), expected[head]))
        rest.emplace_back(-scores[head][static_cast<std::size_t>(row)], head, row);
    }
    std::ranges::sort(rest);
    rest.resize(static_cast<std::size_t>(std::min(left, std::ssize(rest))));
    for (const auto& [score, head, row] : rest) expected[head].push_back(row);
    for (std::vector<std::int32_t>& rows : expected) std::ranges::sort(rows);
    ASSERT_EQ(select_pairs(heads, pairs), expected) << "round " << round;
  }
}

TEST(PairChoice, WhatIsNoNumberRanksLastAndMoreThanAllIsAll) {
  const std::vector<float> odd = {std::numeric_limits<float>::quiet_NaN(), 0.0F};
  const std::vector<std::span<const float>> heads = {odd, odd};
  EXPECT_EQ(select_pairs(heads, 2, {}, 0), (RowsOfHeads{{1}, {1}}));
  EXPECT_EQ(select_pairs(heads, 9, {}, 0), (RowsOfHeads{{0, 1}, {0, 1}}));
}

}  // namespace

}  // namespace winnow
