#include "engine/recipes/pooling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <random>

#include "engine/base/error.h"
#include "engine/recipes/random_hash.h"

namespace winnow {
namespace {

const std::vector<float> kPooled = {1, 2, 3, 4};

TEST(PoolScores, AveragesWithZerosOutside) {
  const std::vector<float> pooled = pool_scores(kPooled, 3, Pooling::kAverage);
  const float expected[] = {1.0F, 2.0F, 3.0F, 7.0F / 3.0F};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(pooled[i], expected[i], 1e-6F);
}

TEST(PoolScores, TakesTheMaximumInside) {
  EXPECT_EQ(pool_scores(kPooled, 3, Pooling::kMaximum), (std::vector<float>{2, 3, 4, 4}));
  EXPECT_EQ(pool_scores(std::vector<float>{-3, -2}, 5, Pooling::kMaximum), (std::vector<float>{-2, -2}));  // no zero from outside
}

TEST(PoolScores, TakesKernelsWiderThanTheScores) {
  EXPECT_EQ(pool_scores(std::vector<float>{7}, 7, Pooling::kAverage), (std::vector<float>{1}));
  EXPECT_TRUE(pool_scores(std::vector<float>{}, 3, Pooling::kAverage).empty());
  EXPECT_EQ(pool_scores(kPooled, 1, Pooling::kAverage), kPooled);
}

// Longer than what is pooled at a time: every number from its own neighbours alone, in their order.
TEST(PoolScores, GoesOverManyScoresAsOverFew) {
  std::mt19937 random(2);
  std::vector<float> scores(5000);
  for (float& score : scores) score = std::normal_distribution<float>()(random);
  for (const std::int64_t kernel : {1, 7, 13}) {
    const std::vector<float> most = pool_scores(scores, kernel, Pooling::kMaximum);
    const std::vector<float> mean = pool_scores(scores, kernel, Pooling::kAverage);
    for (std::int64_t i = 0; i < std::ssize(scores); ++i) {
      float highest = -std::numeric_limits<float>::infinity();
      float sum = 0.0F;
      for (std::int64_t j = std::max<std::int64_t>(0, i - kernel / 2); j <= std::min(std::ssize(scores) - 1, i + kernel / 2); ++j) {
        highest = std::max(highest, scores[static_cast<std::size_t>(j)]);
        sum += scores[static_cast<std::size_t>(j)];
      }
      ASSERT_EQ(most[static_cast<std::size_t>(i)], highest) << i;
      ASSERT_EQ(mean[static_cast<std::size_t>(i)], sum / static_cast<float>(kernel)) << i;
    }
  }
}

TEST(PoolScores, RefusesEvenKernels) { EXPECT_THROW(pool_scores(kPooled, 2, Pooling::kAverage), Exception); }

TEST(RandomHash, EqualsThePublishedNumbers) {
  EXPECT_EQ(splitmix64(0), 0xe220a8397b1dcdafULL);
  EXPECT_EQ(random_hash(1234, LayerId(0), KvHead(0), 0), 0x52b6d2127195ace2ULL);
  EXPECT_EQ(random_hash(1234, LayerId(1), KvHead(2), 7), 0xc2545a1ae11190d3ULL);
}

TEST(RandomHash, IsUniformAsInTheFixture) {
  const float first[] = {.323102F, .706581F, .093392F, .203564F, .291880F, .208398F, .259507F, .739610F};
  const float other[] = {.309324F, .240331F, .198739F, .896793F, .043193F, .736958F, .937986F, .759100F};
  for (std::uint64_t i = 0; i < 8; ++i) {
    EXPECT_NEAR(random_hash_uniform(1234, LayerId(0), KvHead(0), i), first[i], 1e-6F);
    EXPECT_NEAR(random_hash_uniform(1234, LayerId(1), KvHead(2), i), other[i], 1e-6F);
  }
}

}  // namespace
}  // namespace winnow
