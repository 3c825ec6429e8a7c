#include "engine/sampling/log_probabilities.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace winnow {
namespace {

TEST(LogProbabilities, AreTheLogarithmOfTheSoftmax) {
  // Logits ln 1, ln 2, ln 5 moved by 700, where exp() alone would overflow.
  const std::vector<float> logits = {700.0F, 700.0F + std::log(2.0F), 700.0F + std::log(5.0F)};
  const LogProbabilities of(logits);
  EXPECT_NEAR(std::exp(of[0]), 1.0 / 8, 1e-4);
  EXPECT_NEAR(std::exp(of[1]), 2.0 / 8, 1e-4);
  EXPECT_NEAR(std::exp(of[2]), 5.0 / 8, 1e-4);
}

TEST(LogProbabilities, TheLikeliestComeFirstAndEqualOnesByTheirIds) {
  const std::vector<float> logits = {1.0F, 3.0F, -std::numeric_limits<float>::infinity(), 3.0F, 2.0F};
  const LogProbabilities of(logits);
  EXPECT_EQ(of.likeliest(3), (std::vector<std::int64_t>{1, 3, 4}));
  EXPECT_EQ(of.likeliest(0), std::vector<std::int64_t>());
  EXPECT_EQ(of.likeliest(99), (std::vector<std::int64_t>{1, 3, 4, 0, 2}));
  EXPECT_EQ(of[2], -std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace winnow
