// Turns a FramePlan into the times it asks for, and leaves out those at which nothing new is to be seen. Pure arithmetic, no file.
//
// Used by VideoFrameSource. Times are seconds from the start of the video. Formulae: engine/media/frame_source.h. A picture that is still
// on screen at the next time, or at several, is taken once: a frame that is seen twice takes its tokens twice and tells nothing. A range
// that ends after the video is cut to the video; a range that starts after it is refused. Where sound goes on behind the last picture, that
// stands until the sound ends: nobody who names no range is given more of it, but a range may reach there. Errors: kInvalidArgument for a
// plan that no video could satisfy or that lies outside this one; kLimitExceeded for too many frames.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "engine/media/frame_source.h"

namespace winnow::app {

// Evenly apart, in [fromS, toS); never none.
struct AskedTimes {
  double fromS = 0.0;
  double toS = 0.0;
  double offset = 0.0;  // of the first, in steps
  double spanS = 0.0;   // of `parts` steps
  double parts = 1.0;
  std::int64_t count = 0;

  // Each is a product, not a sum: a sum drifts by a frame after some hundred steps of 0.1 s.
  double at(std::int64_t i) const { return fromS + (static_cast<double>(i) + offset) * spanS / parts; }
};

// durationS: length of the video, positive and finite. frameCap: the most frames that any plan may ask for. playsS: until when the file
// plays, where that is later.
AskedTimes planFrames(const FramePlan& plan, double durationS, int frameCap = 1024, double playsS = 0.0);

// The picture that is on screen at a time: since when and until when, seconds; both the time itself where nothing tells.
struct OnScreen {
  double sinceS = 0.0;
  double untilS = 0.0;
};
using OnScreenAt = std::function<OnScreen(double)>;

struct PlannedFrames {
  double fromS = 0.0;
  double toS = 0.0;
  std::vector<double> askedS;  // ascending, never empty, each in [fromS, toS)
  std::vector<double> shownS;  // of each, since when its picture is on screen
  std::vector<double> untilS;  // of each, the last time at which it was asked for
  int planned = 0;             // frames, of which these are all or a part (FramePlan::taken)
  std::int64_t repeats = 0;    // times at which the picture of the one before was still there
  double endS = 0.0;           // of what the frames are taken from: toS, unless there are more pictures than a plan may have frames
};

// `picture` is asked rising times.
PlannedFrames dropRepeats(const AskedTimes& asked, int maxFrames, const OnScreenAt& picture);

// Those frames that the plan takes of them.
PlannedFrames takenOf(PlannedFrames planned, const FramePlan& plan);

}  // namespace winnow::app
