#include "engine/recipes/random_hash.h"

#include <gtest/gtest.h>

namespace winnow {
namespace {

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
