#include "engine/recipes/pooling.h"

#include <gtest/gtest.h>

#include "engine/base/error.h"

namespace winnow {
namespace {

const std::vector<float> kScores = {1, 2, 3, 4};

TEST(PoolScores, AveragesWithZerosOutside) {
  const std::vector<float> pooled = pool_scores(kScores, 3, Pooling::kAverage);
  const float expected[] = {1.0F, 2.0F, 3.0F, 7.0F / 3.0F};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(pooled[i], expected[i], 1e-6F);
}

TEST(PoolScores, TakesTheMaximumInside) {
  EXPECT_EQ(pool_scores(kScores, 3, Pooling::kMaximum), (std::vector<float>{2, 3, 4, 4}));
  EXPECT_EQ(pool_scores(std::vector<float>{-3, -2}, 5, Pooling::kMaximum), (std::vector<float>{-2, -2}));  // no zero from outside
}

TEST(PoolScores, TakesKernelsWiderThanTheScores) {
  EXPECT_EQ(pool_scores(std::vector<float>{7}, 7, Pooling::kAverage), (std::vector<float>{1}));
  EXPECT_TRUE(pool_scores(std::vector<float>{}, 3, Pooling::kAverage).empty());
  EXPECT_EQ(pool_scores(kScores, 1, Pooling::kAverage), kScores);
}

TEST(PoolScores, RefusesEvenKernels) { EXPECT_THROW(pool_scores(kScores, 2, Pooling::kAverage), Exception); }

}  // namespace
}  // namespace winnow
