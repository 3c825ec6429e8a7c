// Turns a FramePlan into the presentation times it asks for. Pure arithmetic, no file.
//
// Used by VideoFrameSource, and by a planner that shows the user what would be sampled. Times are seconds from the start of the video.
// Formulae: engine/media/frame_source.h. A plan that asks for more frames than the range holds is answered with each of them once: a frame
// that is seen twice takes its tokens twice and tells nothing. A range that ends after the video is cut to the video; a range that starts
// after it is refused. Errors: kInvalidArgument for a plan that no video could satisfy or that lies outside this one; kLimitExceeded for
// too many frames.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/media/frame_source.h"

namespace winnow::app {

struct PlannedFrames {
  double fromS = 0.0;
  double toS = 0.0;
  std::vector<double> askedS;  // ascending, never empty, each in [fromS, toS)
};

// durationS: length of the video, positive and finite. videoFrames: how many frames it has at most; below 1: not known. frameCap: the most
// frames that any plan may ask for.
PlannedFrames planFrames(const FramePlan& plan, double durationS, std::int64_t videoFrames = -1, int frameCap = 1024);

}  // namespace winnow::app
