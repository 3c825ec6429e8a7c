// How the frames of a plan are dealt out to decoders, worked out by hand.
#include "app/media/files/decoding_plan.h"

#include <gtest/gtest.h>

#include <numeric>

namespace winnow::app {
namespace {

MediaLimits decoders(int count) { return {.decoders = count}; }

std::vector<double> seconds(int count, double step) {
  std::vector<double> times;
  for (int i = 0; i < count; ++i) times.push_back(i * step);
  return times;
}

constexpr std::int64_t kFullHd = 1920 * 1080;

TEST(DecodingPlan, GroupsAreDealtOutWhole) {
  const DecodingPlan plan = planDecoding(seconds(8, 2.0), {0, 0, 0, 3, 3, 7, 8, 8}, kFullHd, decoders(2));
  EXPECT_EQ(plan.decoders, 2);
  EXPECT_EQ(plan.threadsEach, 1);
  EXPECT_EQ(plan.decoder, (std::vector<int>{0, 0, 0, 1, 1, 0, 1, 1}));
  EXPECT_EQ(plan.lastOfGroup, (std::vector<bool>{false, false, true, false, true, true, false, true}));
}

TEST(DecodingPlan, FramesOfOneGroupHaveOneDecoderWithAllThreads) {
  for (const std::int64_t keyframe : {-1, 0, 5}) {
    const DecodingPlan plan = planDecoding(seconds(64, 1.0), std::vector<std::int64_t>(64, keyframe), kFullHd, decoders(4));
    EXPECT_EQ(plan.decoders, 1);
    EXPECT_EQ(plan.threadsEach, 4);
    EXPECT_EQ(std::accumulate(plan.lastOfGroup.begin(), plan.lastOfGroup.end(), 0), 1) << "only the last frame has none behind it";
  }
}

// A batch of eight lies in two groups: four decoders would find nothing to do for two of them.
TEST(DecodingPlan, NoMoreDecodersThanABatchHasGroups) {
  std::vector<std::int64_t> keyframes;
  for (int i = 0; i < 64; ++i) keyframes.push_back(i / 4);
  const DecodingPlan plan = planDecoding(seconds(64, 1.0), keyframes, kFullHd, decoders(4));
  EXPECT_EQ(plan.decoders, 2);
  EXPECT_EQ(plan.threadsEach, 2);
}

TEST(DecodingPlan, FramesCloseTogetherAreOneGroupWhateverTheIndexSays) {
  std::vector<std::int64_t> every(20);
  std::iota(every.begin(), every.end(), 0);
  EXPECT_EQ(planDecoding(seconds(20, 0.04), every, kFullHd, decoders(4)).decoders, 1);
  EXPECT_EQ(planDecoding(seconds(20, 0.4), every, kFullHd, decoders(4)).decoders, 4);
}

// All together hold no more than one decoder of the largest pictures that are allowed.
TEST(DecodingPlan, LargePicturesHaveFewDecoders) {
  std::vector<std::int64_t> each(16);
  std::iota(each.begin(), each.end(), 0);
  EXPECT_EQ(planDecoding(seconds(16, 5.0), each, 7680 * 4320, decoders(8)).decoders, 2);
  const DecodingPlan largest = planDecoding(seconds(16, 5.0), each, 8192 * 8192, decoders(8));
  EXPECT_EQ(largest.decoders, 1);
  EXPECT_EQ(largest.threadsEach, 1);
}

TEST(DecodingPlan, ASingleFrameIsAPlan) {
  const DecodingPlan plan = planDecoding({1.0}, {-1}, kFullHd, decoders(8));
  EXPECT_EQ(plan.decoders, 1);
  EXPECT_EQ(plan.decoder, (std::vector<int>{0}));
  EXPECT_EQ(plan.lastOfGroup, (std::vector<bool>{true}));
}

}  // namespace
}  // namespace winnow::app
