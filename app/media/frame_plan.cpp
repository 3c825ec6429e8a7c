#include "app/media/frame_plan.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "engine/base/error.h"
#include "engine/media/frame_count.h"

namespace winnow::app {
namespace {

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

PlannedFrames planFrames(const FramePlan& plan, double durationS, std::int64_t videoFrames, int frameCap) {
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
  requireWithinCap(plan.max_frames, frameCap);
  requireWithinCap(plan.frame_count, plan.max_frames);
  if (plan.from_s < 0.0) refusePlan("from", "the start of the range is negative");
  if (plan.from_s >= durationS) {
    refusePlan("from", "the range starts at " + seconds(plan.from_s) + ", but the video is only " + seconds(durationS) + " long");
  }
  if (plan.to_s >= 0.0 && plan.to_s <= plan.from_s) {
    refusePlan("to", "the range ends at " + seconds(plan.to_s) + ", which is not after its start at " + seconds(plan.from_s));
  }

  PlannedFrames planned;
  planned.fromS = plan.from_s;
  planned.toS = plan.to_s < 0.0 ? durationS : std::min(plan.to_s, durationS);
  const double span = planned.toS - planned.fromS;
  if (plan.frame_count > 0) {
    std::int64_t count = plan.frame_count;
    if (videoFrames > 0) count = std::min(count, frames_in_range(span, durationS, videoFrames));
    planned.askedS.reserve(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i)
      planned.askedS.push_back(planned.fromS + (static_cast<double>(i) + 0.5) * span / static_cast<double>(count));
  } else {
    const double step = videoFrames > 0 ? std::max(plan.every_s, durationS / static_cast<double>(videoFrames)) : plan.every_s;
    // Each time is a product, not a sum: a sum drifts by a frame after some hundred steps of 0.1 s.
    for (int i = 0; i < plan.max_frames; ++i) {
      const double asked = planned.fromS + i * step;
      if (asked >= planned.toS) break;
      planned.askedS.push_back(asked);
    }
  }
  return planned;
}

}  // namespace winnow::app
