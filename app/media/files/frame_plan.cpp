#include "app/media/files/frame_plan.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <span>
#include <string>

#include "engine/base/error.h"
#include "engine/media/coarse_order.h"

namespace winnow::app {
namespace {

constexpr double kMostTimes = 1e15;  // that whole numbers in a double can count
// Rounding of a time computed from a frame's own start, in seconds: VideoContainer::ticksAt() allows as much.
constexpr double kRounding = 1e-6;

std::string seconds(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f s", value);
  return text;
}

[[noreturn]] void refusePlan(const char* key, const std::string& reason) { throw Exception(ErrorCode::kInvalidArgument, key, reason); }

void requireFinite(double value, const char* key) {
  if (!std::isfinite(value)) refusePlan(key, "the value is not a finite number");
}

void requireWithinCap(int frames, int cap) {
  if (frames > cap) {
    throw Exception(ErrorCode::kLimitExceeded, "frame plan",
                    std::to_string(frames) + " frames were asked for, at most " + std::to_string(cap) + " are possible");
  }
}

}  // namespace

AskedTimes planFrames(const FramePlan& plan, double durationS, int frameCap, double playsS) {
  require(std::isfinite(durationS) && durationS > 0.0, "a frame plan needs a video with a positive duration");
  require(frameCap > 0, "a frame plan needs a positive cap");
  requireFinite(plan.every_s, "every");
  requireFinite(plan.from_s, "from");
  requireFinite(plan.to_s, "to");
  if (plan.frame_count < 0) refusePlan("frames", "the number of frames is negative");
  if (plan.every_s < 0.0) refusePlan("every", "the distance between frames is negative");
  if (plan.frame_count > 0 && plan.every_s > 0.0)
    refusePlan("frame plan", "a number of frames and a distance between frames exclude each other");
  if (plan.frame_count == 0 && plan.every_s == 0.0)
    refusePlan("frame plan", "neither a number of frames nor a distance between frames is given");
  if (plan.max_frames < 1) refusePlan("frame plan", "the largest number of frames is below 1");
  if (plan.taken < 0 || plan.set_frames < 1)
    refusePlan("frame plan", "the number of frames to take is negative, or they are taken in sets of none");
  requireWithinCap(plan.max_frames, frameCap);
  requireWithinCap(plan.frame_count, plan.max_frames);
  if (plan.from_s < 0.0) refusePlan("from", "the start of the range is negative");
  const double latestS = std::max(durationS, playsS);
  if (plan.from_s >= latestS) {
    refusePlan("from", "the range starts at " + seconds(plan.from_s) + ", but the video is only " + seconds(latestS) + " long");
  }
  if (plan.to_s >= 0.0 && plan.to_s <= plan.from_s) {
    refusePlan("to", "the range ends at " + seconds(plan.to_s) + ", which is not after its start at " + seconds(plan.from_s));
  }

  AskedTimes asked{.fromS = plan.from_s};
  const double endS = plan.from_s < durationS ? durationS : latestS;
  asked.toS = plan.to_s < 0.0 ? endS : std::min(plan.to_s, latestS);
  if (plan.frame_count > 0) {
    asked.offset = 0.5;
    asked.spanS = asked.toS - asked.fromS;
    asked.parts = plan.frame_count;
    asked.count = plan.frame_count;
  } else {
    asked.spanS = plan.every_s;
    const double steps = std::min(kMostTimes, std::ceil((asked.toS - asked.fromS) / plan.every_s));
    asked.count = static_cast<std::int64_t>(steps);
    while (asked.count > 1 && asked.at(asked.count - 1) >= asked.toS) --asked.count;
  }
  return asked;
}

PlannedFrames dropRepeats(const AskedTimes& asked, int maxFrames, const OnScreenAt& picture) {
  PlannedFrames planned{asked.fromS, asked.toS, {}, {}, {}, 0, 0, asked.toS};
  for (std::int64_t i = 0; i < asked.count;) {
    const double time = asked.at(i);
    if (std::ssize(planned.askedS) == maxFrames) {
      planned.endS = time;
      break;
    }
    const auto [since, until] = picture(time);
    std::int64_t next = i + 1;
    if (until > time) {
      const double steps = (until - asked.fromS) * asked.parts / asked.spanS - asked.offset;
      next = std::max(next, static_cast<std::int64_t>(std::min(std::floor(steps), static_cast<double>(asked.count))));
      while (next < asked.count && asked.at(next) < until - kRounding) ++next;
    }
    planned.askedS.push_back(time);
    planned.shownS.push_back(since);
    planned.untilS.push_back(asked.at(next - 1));
    planned.repeats += next - i - 1;
    i = next;
  }
  planned.planned = static_cast<int>(planned.askedS.size());
  return planned;
}

PlannedFrames takenOf(PlannedFrames planned, const FramePlan& plan) {
  if (plan.taken == 0 || plan.taken >= planned.planned) return planned;
  const std::vector<int> numbers = taken_frames(planned.planned, plan.taken, plan.set_frames);
  for (std::vector<double>* times : {&planned.askedS, &planned.shownS, &planned.untilS})
    *times = of_frames(std::span<const double>(*times), numbers);
  return planned;
}

}  // namespace winnow::app
