#include "app/media/files/frame_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "engine/base/error.h"

namespace winnow::app {
namespace {

FramePlan uniform(int frames, double from = 0.0, double to = -1.0) { return {.frame_count = frames, .from_s = from, .to_s = to}; }

FramePlan every(double step, double from = 0.0, double to = -1.0) {
  FramePlan plan = uniform(0, from, to);
  plan.every_s = step;
  return plan;
}

std::vector<double> times(const AskedTimes& asked) {
  std::vector<double> all;
  for (std::int64_t i = 0; i < asked.count; ++i) all.push_back(asked.at(i));
  return all;
}

// Of a video whose pictures begin at these times, the last one lasting for ever.
OnScreenAt pictures(std::vector<double> starts) {
  return [starts = std::move(starts)](double timeS) {
    const auto next = std::upper_bound(starts.begin(), starts.end(), timeS + 1e-6);  // as a reader rounds times
    return OnScreen{*std::prev(next), next == starts.end() ? std::numeric_limits<double>::infinity() : *next};
  };
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
  const AskedTimes asked = planFrames(uniform(4), 10.0);
  EXPECT_EQ(times(asked), (std::vector<double>{1.25, 3.75, 6.25, 8.75}));
  EXPECT_EQ(asked.fromS, 0.0);
  EXPECT_EQ(asked.toS, 10.0);
}

TEST(FramePlan, UniformStaysInsideTheRange) { EXPECT_EQ(times(planFrames(uniform(2, 2.0, 4.0), 10.0)), (std::vector<double>{2.5, 3.5})); }

TEST(FramePlan, EveryStartsAtTheBeginningAndLeavesTheEndOut) {
  EXPECT_EQ(times(planFrames(every(2.5), 10.0)), (std::vector<double>{0.0, 2.5, 5.0, 7.5}));
  EXPECT_EQ(times(planFrames(every(4.0, 1.0, 6.0), 10.0)), (std::vector<double>{1.0, 5.0}));
  EXPECT_EQ(times(planFrames(every(60.0), 10.0)), (std::vector<double>{0.0}));
}

TEST(FramePlan, EveryDoesNotDrift) {
  const AskedTimes asked = planFrames(every(0.1), 100.0);
  ASSERT_EQ(asked.count, 1000);
  EXPECT_DOUBLE_EQ(asked.at(999), 99.9);
}

TEST(FramePlan, RangeThatEndsAfterTheVideoIsCut) {
  EXPECT_EQ(planFrames(uniform(1, 8.0, 60.0), 10.0).toS, 10.0);
  EXPECT_EQ(times(planFrames(uniform(1, 8.0, 60.0), 10.0)), (std::vector<double>{9.0}));
}

// Four seconds of pictures and ten of sound: who names no range is given what moves.
TEST(FramePlan, ARangeMayReachToWhereTheSoundEnds) {
  EXPECT_EQ(times(planFrames(uniform(2), 4.0, 1024, 10.0)), (std::vector<double>{1.0, 3.0}));
  EXPECT_EQ(times(planFrames(uniform(1, 6.0, 7.0), 4.0, 1024, 10.0)), (std::vector<double>{6.5}));
  EXPECT_EQ(times(planFrames(every(3.0, 6.0), 4.0, 1024, 10.0)), (std::vector<double>{6.0, 9.0}));
  EXPECT_EQ(planFrames(uniform(1, 2.0, 60.0), 4.0, 1024, 10.0).toS, 10.0);
  EXPECT_THROW(planFrames(uniform(1, 10.0, 11.0), 4.0, 1024, 10.0), Exception);
}

// A frame that is sampled twice takes its tokens twice and tells nothing; one that was asked for is not moved to where another one is.
TEST(FramePlan, APictureThatStandsForSeveralTimesIsTakenOnce) {
  const OnScreenAt rare = pictures({0.0, 8.0, 9.0, 10.0});
  const PlannedFrames four = dropRepeats(planFrames(uniform(4), 16.0), 1024, rare);
  EXPECT_EQ(four.askedS, (std::vector<double>{2.0, 10.0}));
  EXPECT_EQ(four.shownS, (std::vector<double>{0.0, 10.0}));
  EXPECT_EQ(four.untilS, (std::vector<double>{6.0, 14.0}));
  EXPECT_EQ(four.repeats, 2);
  const PlannedFrames steps = dropRepeats(planFrames(every(3.0), 16.0), 1024, rare);
  EXPECT_EQ(steps.askedS, (std::vector<double>{0.0, 9.0, 12.0}));
  EXPECT_EQ(steps.repeats, 3) << "3, 6 and 15 s; a picture that begins at its time is there";
  EXPECT_EQ(steps.endS, steps.toS);
  const PlannedFrames unknown = dropRepeats(planFrames(uniform(3), 3.0), 1024, [](double timeS) { return OnScreen{timeS, timeS}; });
  EXPECT_EQ(unknown.askedS, (std::vector<double>{0.5, 1.5, 2.5})) << "where nothing tells, all are taken";
}

TEST(FramePlan, RepeatsAreNotCountedOneByOne) {
  int asked = 0;
  const OnScreenAt until = [&, rare = pictures({0.0, 8.0, 9.0, 10.0})](double timeS) {
    ++asked;
    return rare(timeS);
  };
  const PlannedFrames planned = dropRepeats(planFrames(every(1e-9), 16.0), 1024, until);
  EXPECT_EQ(planned.askedS.size(), 4u);
  EXPECT_EQ(asked, 4);
  EXPECT_NEAR(planned.askedS.back(), 10.0, 2e-6);
}

TEST(FramePlan, EveryStopsAtTheLargestNumberOfPictures) {
  std::vector<double> starts;
  for (int i = 0; i < 3600; ++i) starts.push_back(i);
  const PlannedFrames many = dropRepeats(planFrames(every(0.5), 3600.0), 1024, pictures(starts));
  EXPECT_EQ(many.askedS.size(), 1024u);
  EXPECT_EQ(many.askedS.back(), 1023.0) << "repeats use none of them up";
  EXPECT_EQ(many.endS, 1024.0);
}

TEST(FramePlan, APartIsTakenOfWhatIsLeftWithoutRepeats) {
  FramePlan plan = uniform(8);
  plan.taken = 3;
  const AskedTimes asked = planFrames(plan, 8.0);
  const PlannedFrames all = dropRepeats(asked, 1024, pictures({0.0, 3.0, 4.0, 5.0, 6.0, 7.0}));
  const PlannedFrames part = takenOf(all, plan);
  EXPECT_EQ(all.askedS, (std::vector<double>{0.5, 3.5, 4.5, 5.5, 6.5, 7.5}));
  EXPECT_EQ(part.askedS, (std::vector<double>{0.5, 4.5, 7.5})) << "first, last, middle";
  EXPECT_EQ(part.shownS, (std::vector<double>{0.0, 4.0, 7.0}));
  EXPECT_EQ(part.untilS.front(), all.untilS.front());
  EXPECT_EQ(part.planned, 6);
  EXPECT_EQ(part.repeats, 2);
  plan.taken = 6;
  EXPECT_EQ(takenOf(all, plan).askedS, all.askedS);
  plan.taken = 1;
  plan.set_frames = 2;
  EXPECT_EQ(takenOf(all, plan).askedS, (std::vector<double>{0.5, 3.5})) << "a set is not divided";
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
  FramePlan part = uniform(4);
  part.set_frames = 0;
  EXPECT_EQ(refusal(part).code, ErrorCode::kInvalidArgument);
  part = uniform(4);
  part.taken = -1;
  EXPECT_EQ(refusal(part).code, ErrorCode::kInvalidArgument);
}

TEST(FramePlan, SaysHowLongTheVideoIsWhenTheRangeStartsAfterIt) {
  EXPECT_EQ(refusal(uniform(4, 12.0)).reason, "the range starts at 12.00 s, but the video is only 10.00 s long");
  EXPECT_EQ(refusal(uniform(4, 5.0, 3.0)).reason, "the range ends at 3.00 s, which is not after its start at 5.00 s");
}

}  // namespace
}  // namespace winnow::app
