#include "app/evaluation/interval.h"

#include <gtest/gtest.h>

#include <cmath>
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

TEST(Interval, QuestionsThatGoTogetherNarrowLess) {
  // Forty questions of which half are right: each a draw of its own, or eight documents of five that are right or wrong as a whole.
  std::vector<std::vector<double>> alone, together;
  for (int i = 0; i < 40; ++i) alone.push_back({i % 2 == 0 ? 1.0 : 0.0});
  for (int i = 0; i < 8; ++i) together.emplace_back(5, i % 2 == 0 ? 1.0 : 0.0);
  const Interval narrow = clusteredInterval(alone);
  const Interval wide = clusteredInterval(together);
  // Standard deviation 0.5 over the root of 40, and of 8.
  EXPECT_NEAR(narrow.high - narrow.low, 2 * 1.96 * 0.5 / std::sqrt(40.0), 0.03);
  EXPECT_NEAR(wide.high - wide.low, 2 * 1.96 * 0.5 / std::sqrt(8.0), 0.08);
  EXPECT_EQ(clusteredInterval({}).high, 1.0);
  together.emplace_back();
  EXPECT_EQ(clusteredInterval(together).low, wide.low) << "a document without a question counts for nothing";
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
