#include "app/evaluation/interval.h"

#include <gtest/gtest.h>

#include <vector>

namespace winnow::app {
namespace {

TEST(Interval, WilsonKnowsTextbookValues) {
  // 8 of 10: (0.490, 0.943), Wilson 1927 as tabulated everywhere.
  EXPECT_NEAR(wilsonInterval(8, 10).low, 0.4902, 1e-4);
  EXPECT_NEAR(wilsonInterval(8, 10).high, 0.9433, 1e-4);
  EXPECT_EQ(wilsonInterval(0, 10).low, 0.0);
  EXPECT_NEAR(wilsonInterval(0, 10).high, 0.2775, 1e-4);
  EXPECT_EQ(wilsonInterval(10, 10).high, 1.0);
  EXPECT_EQ(wilsonInterval(0, 0).high, 1.0);
}

TEST(Interval, BootstrapHoldsTheMeanAndNarrowsWithTheRoot) {
  std::vector<double> few;
  for (int i = 0; i < 25; ++i) few.push_back(i % 5 / 4.0);
  std::vector<double> many;
  for (int i = 0; i < 16; ++i) many.insert(many.end(), few.begin(), few.end());
  const Interval wide = bootstrapInterval(few);
  const Interval narrow = bootstrapInterval(many);
  // Standard deviation 0.3536: mean 0.5 -+ 1.96 * 0.3536 / 5.
  EXPECT_NEAR(wide.low, 0.5 - 0.1386, 0.015);
  EXPECT_NEAR(wide.high, 0.5 + 0.1386, 0.015);
  EXPECT_NEAR((wide.high - wide.low) / (narrow.high - narrow.low), 4.0, 0.4);
}

TEST(Interval, IsTheSameEveryTime) {
  const std::vector<double> scores = {0.1, 0.9, 0.4, 0.4, 0.7};
  EXPECT_EQ(bootstrapInterval(scores).low, bootstrapInterval(scores).low);
  EXPECT_EQ(bootstrapInterval(scores).high, bootstrapInterval(scores).high);
}

TEST(Interval, ScoresOfZeroAndOneTakeWilson) {
  EXPECT_EQ(meanInterval(std::vector<double>{1, 1, 0, 1}).low, wilsonInterval(3, 4).low);
  const std::vector<double> mixed = {1, 0.5, 0, 1};
  EXPECT_EQ(meanInterval(mixed).low, bootstrapInterval(mixed).low);
}

}  // namespace
}  // namespace winnow::app
