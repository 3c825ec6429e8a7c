#include "app/chats/chat/pinned_ranges.h"

#include <gtest/gtest.h>

namespace winnow::app {
namespace {

TEST(PinnedRanges, MeetAndPart) {
  PinnedRanges ranges = withRange({}, {10, 20});
  ranges = withRange(ranges, {40, 50});
  ranges = withRange(ranges, {0, 5});
  EXPECT_EQ(ranges, (PinnedRanges{{0, 5}, {10, 20}, {40, 50}}));
  EXPECT_EQ(withRange(ranges, {5, 12}), (PinnedRanges{{0, 20}, {40, 50}}));
  EXPECT_EQ(withRange(ranges, {1, 45}), (PinnedRanges{{0, 50}}));
  EXPECT_EQ(withoutRange(ranges, {12, 45}), (PinnedRanges{{0, 5}, {10, 12}, {45, 50}}));
  EXPECT_EQ(withoutRange(ranges, {-1, 100}), PinnedRanges{});
  EXPECT_EQ(withoutRange({{10, 20}}, {10.03, 20}), PinnedRanges{}) << "a thirtieth of a second is no range";
  EXPECT_TRUE(anyContains(ranges, 10) && anyContains(ranges, 20) && !anyContains(ranges, 21));
  EXPECT_TRUE(covered(ranges, {11, 20}));
  EXPECT_FALSE(covered(ranges, {4, 11}));
}

TEST(PinnedRanges, AlwaysReachAFrame) {
  const std::vector<double> frames = {8, 24, 40};
  EXPECT_EQ(reachingFrames({{20, 30}}, frames, 2), (PinnedRanges{{20, 30}})) << "24 is in it for sure";
  EXPECT_EQ(reachingFrames({{23, 30}}, frames, 2), (PinnedRanges{{22, 30}})) << "24 may be delivered as 22";
  EXPECT_EQ(reachingFrames({{10, 12}}, frames, 2), (PinnedRanges{{6, 12}}));
  EXPECT_EQ(reachingFrames({{10, 12}, {13, 14}}, frames, 2), (PinnedRanges{{6, 14}})) << "both want the same frame";
  EXPECT_EQ(reachingFrames({{100, 101}}, frames, 0), (PinnedRanges{{40, 101}}));
  EXPECT_EQ(reachingFrames({{1, 2}}, {}, 1), (PinnedRanges{{1, 2}}));
}

}  // namespace
}  // namespace winnow::app
