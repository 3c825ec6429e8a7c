#include "engine/models/config/head_order.h"

#include <gtest/gtest.h>

#include <numeric>

namespace winnow {
namespace {

using Order = std::vector<std::int64_t>;

// Of eight elements the first four are rotated, as pairs (0, 2) and (1, 3): they come to lie half a head apart.
TEST(HeadOrder, PutsRotatedPairsHalfAHeadApart) {
  EXPECT_EQ(head_order(8, 4), (Order{0, 1, 4, 5, 2, 3, 6, 7}));
  EXPECT_EQ(head_order(6, 2), (Order{0, 2, 3, 1, 4, 5}));
}

// GLM's pairs are (0, 1) and (2, 3).
TEST(HeadOrder, PutsNeighboursHalfAHeadApart) {
  EXPECT_EQ(head_order(8, 4, RotaryPairs::kNeighbours), (Order{0, 2, 4, 5, 1, 3, 6, 7}));
  EXPECT_EQ(head_order(6, 0, RotaryPairs::kNeighbours), (Order{0, 2, 4, 1, 3, 5}));
}

TEST(HeadOrder, LeavesAHeadThatIsRotatedWhole) {
  Order all(8);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(head_order(8, 0), all);
  EXPECT_EQ(head_order(8, 8), all);
}

}  // namespace
}  // namespace winnow
