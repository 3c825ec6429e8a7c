#include "engine/recipes/pair_choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <random>
#include <tuple>
#include <vector>

#include "engine/recipes/select.h"

namespace winnow {
namespace {

using Rows = std::vector<std::vector<std::int32_t>>;

// Two layers of two heads over four rows; the numbers' pairs can be ranked by hand.
const std::vector<std::vector<float>> kScores = {
    {0.9F, 0.5F, 0.1F, 0.3F}, {0.2F, 0.2F, 0.6F, 0.05F}, {0.4F, 0.8F, 0.7F, 0.1F}, {0.05F, 0.02F, 0.03F, 0.9F}};

Rows best(std::int64_t pairs, std::vector<std::int32_t> forced = {}, std::int64_t floor_slots = 0) {
  const std::vector<std::span<const float>> heads(kScores.begin(), kScores.end());
  return select_pairs(heads, pairs, forced, floor_slots);
}

TEST(PairChoice, KeepsTheBestPairsOfAllHeads) {
  EXPECT_EQ(best(8), (Rows{{0, 1, 3}, {2}, {0, 1, 2}, {3}}));
  EXPECT_EQ(best(4), (Rows{{0}, {}, {1, 2}, {3}}));
}

TEST(PairChoice, ForcedRowsOfEveryHeadComeFirstAndCount) {
  EXPECT_EQ(best(8, {0}), (Rows{{0}, {0, 2}, {0, 1, 2}, {0, 3}}));
  EXPECT_EQ(best(4, {0}), (Rows{{0}, {0}, {0}, {0}}));
}

TEST(PairChoice, HeadsOfALayerCompeteAmongThemselves) {
  const std::vector<std::span<const float>> first(kScores.begin(), kScores.begin() + 2);
  EXPECT_EQ(select_pairs(first, 4, {}, 0), (Rows{{0, 1, 3}, {2}}));
  const std::vector<std::span<const float>> second(kScores.begin() + 2, kScores.end());
  EXPECT_EQ(select_pairs(second, 4, {}, 0), (Rows{{0, 1, 2}, {3}}));
}

TEST(PairChoice, AFloorLeavesNoHeadEmpty) {
  EXPECT_EQ(best(4, {}, 1), (Rows{{0}, {2}, {1}, {3}}));
  EXPECT_EQ(best(5, {}, 1), (Rows{{0}, {2}, {1, 2}, {3}}));
}

TEST(PairChoice, TiesGoToTheLowerHeadAndThenToTheLowerRow) {
  const std::vector<float> alike(3, 0.5F);
  const std::vector<std::span<const float>> heads = {alike, alike};
  EXPECT_EQ(select_pairs(heads, 2, {}, 0), (Rows{{0, 1}, {}}));
  EXPECT_EQ(select_pairs(heads, 4, {}, 0), (Rows{{0, 1, 2}, {0}}));
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

    Rows expected(heads.size());
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
  EXPECT_EQ(select_pairs(heads, 2, {}, 0), (Rows{{1}, {1}}));
  EXPECT_EQ(select_pairs(heads, 9, {}, 0), (Rows{{0, 1}, {0, 1}}));
}

}  // namespace
}  // namespace winnow
