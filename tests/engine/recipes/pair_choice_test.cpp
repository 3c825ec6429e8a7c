#include "engine/recipes/pair_choice.h"

#include <gtest/gtest.h>

#include <limits>

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

TEST(PairChoice, WhatIsNoNumberRanksLastAndMoreThanAllIsAll) {
  const std::vector<float> odd = {std::numeric_limits<float>::quiet_NaN(), 0.0F};
  const std::vector<std::span<const float>> heads = {odd, odd};
  EXPECT_EQ(select_pairs(heads, 2, {}, 0), (Rows{{1}, {1}}));
  EXPECT_EQ(select_pairs(heads, 9, {}, 0), (Rows{{0, 1}, {0, 1}}));
}

}  // namespace
}  // namespace winnow
