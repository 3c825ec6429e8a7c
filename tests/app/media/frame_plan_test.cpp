#include "app/media/frame_plan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "engine/base/error.h"

namespace winnow::app {
namespace {

FramePlan uniform(int frames, double from = 0.0, double to = -1.0) {
  FramePlan plan;
  plan.frame_count = frames;
  plan.from_s = from;
  plan.to_s = to;
  return plan;
}

FramePlan every(double step, double from = 0.0, double to = -1.0) {
  FramePlan plan = uniform(0, from, to);
  plan.every_s = step;
  return plan;
}

Error refusal(const FramePlan& plan, double durationS = 10.0) {
  try {
    planFrames(plan, durationS);
  } catch (const Exception& exception) {
    return exception.error();
  }
  ADD_FAILURE() << "the plan was accepted";
  return {};
}

TEST(FramePlan, UniformTakesTheMiddleOfEachShare) {
  const PlannedFrames planned = planFrames(uniform(4), 10.0);
  EXPECT_EQ(planned.askedS, (std::vector<double>{1.25, 3.75, 6.25, 8.75}));
  EXPECT_EQ(planned.fromS, 0.0);
  EXPECT_EQ(planned.toS, 10.0);
}

TEST(FramePlan, UniformStaysInsideTheRange) { EXPECT_EQ(planFrames(uniform(2, 2.0, 4.0), 10.0).askedS, (std::vector<double>{2.5, 3.5})); }

// A frame that is sampled twice takes its tokens twice and tells nothing.
TEST(FramePlan, NoMoreFramesAreAskedForThanThereAre) {
  EXPECT_EQ(planFrames(uniform(64), 3.0, 15).askedS.size(), 15u);
  EXPECT_EQ(planFrames(uniform(64), 3.0, 15).askedS, planFrames(uniform(15), 3.0).askedS) << "the middle of each frame";
  EXPECT_EQ(planFrames(uniform(15), 3.0, 15).askedS.size(), 15u);
  EXPECT_EQ(planFrames(uniform(4), 3.0, 15).askedS, planFrames(uniform(4), 3.0).askedS);
  EXPECT_EQ(planFrames(uniform(64, 1.0, 2.0), 3.0, 15).askedS.size(), 5u) << "of a part";
  EXPECT_EQ(planFrames(uniform(64, 1.0, 1.01), 3.0, 15).askedS.size(), 1u) << "never none";
  EXPECT_EQ(planFrames(uniform(64), 3.0, -1).askedS.size(), 64u) << "how many there are is not known";
  EXPECT_EQ(planFrames(every(0.05), 3.0, 15).askedS.size(), 15u);
  EXPECT_EQ(planFrames(every(0.5), 3.0, 15).askedS, planFrames(every(0.5), 3.0).askedS);
}

TEST(FramePlan, EveryStartsAtTheBeginningAndLeavesTheEndOut) {
  EXPECT_EQ(planFrames(every(2.5), 10.0).askedS, (std::vector<double>{0.0, 2.5, 5.0, 7.5}));
  EXPECT_EQ(planFrames(every(4.0, 1.0, 6.0), 10.0).askedS, (std::vector<double>{1.0, 5.0}));
  EXPECT_EQ(planFrames(every(60.0), 10.0).askedS, (std::vector<double>{0.0}));
}

TEST(FramePlan, EveryDoesNotDrift) {
  const PlannedFrames planned = planFrames(every(0.1), 100.0);
  ASSERT_EQ(planned.askedS.size(), 1000u);
  EXPECT_DOUBLE_EQ(planned.askedS.back(), 99.9);
}

TEST(FramePlan, EveryStopsAtTheLargestNumberOfFrames) {
  FramePlan plan = every(0.001);
  EXPECT_EQ(planFrames(plan, 3600.0).askedS.size(), 1024u);
  plan.max_frames = 3;
  EXPECT_EQ(planFrames(plan, 3600.0).askedS, (std::vector<double>{0.0, 0.001, 0.002}));
}

TEST(FramePlan, RangeThatEndsAfterTheVideoIsCut) {
  EXPECT_EQ(planFrames(uniform(1, 8.0, 60.0), 10.0).toS, 10.0);
  EXPECT_EQ(planFrames(uniform(1, 8.0, 60.0), 10.0).askedS, (std::vector<double>{9.0}));
}

TEST(FramePlan, RefusesTooManyFrames) {
  EXPECT_EQ(refusal(uniform(1025)).code, ErrorCode::kLimitExceeded);
  EXPECT_EQ(refusal(uniform(1025)).reason, "1025 frames were asked for, at most 1024 are possible");
  FramePlan plan = uniform(4);
  plan.max_frames = 3;
  EXPECT_EQ(refusal(plan).reason, "4 frames were asked for, at most 3 are possible");
  plan.max_frames = 2000;
  EXPECT_EQ(refusal(plan).code, ErrorCode::kLimitExceeded);
}

TEST(FramePlan, RefusesWhatNoVideoCouldSatisfy) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  for (const FramePlan& plan : {uniform(0), uniform(-1), every(-1.0), every(nan), every(infinity), uniform(4, nan), uniform(4, 0.0, nan),
                                uniform(4, 0.0, infinity), uniform(4, -0.5), uniform(4, 5.0, 5.0), uniform(4, 5.0, 3.0)}) {
    EXPECT_EQ(refusal(plan).code, ErrorCode::kInvalidArgument);
  }
  FramePlan both = uniform(4);
  both.every_s = 1.0;
  EXPECT_EQ(refusal(both).reason, "a number of frames and a distance between frames exclude each other");
  FramePlan none = uniform(4);
  none.max_frames = 0;
  EXPECT_EQ(refusal(none).code, ErrorCode::kInvalidArgument);
}

TEST(FramePlan, SaysHowLongTheVideoIsWhenTheRangeStartsAfterIt) {
  EXPECT_EQ(refusal(uniform(4, 12.0)).reason, "the range starts at 12.00 s, but the video is only 10.00 s long");
  EXPECT_EQ(refusal(uniform(4, 5.0, 3.0)).reason, "the range ends at 3.00 s, which is not after its start at 5.00 s");
}

}  // namespace
}  // namespace winnow::app
