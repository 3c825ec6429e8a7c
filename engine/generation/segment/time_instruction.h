// The sentence that a family writes about a video's length and times.
//
// Used by thread_text.h.
#pragma once

#include <string>

#include "engine/models/media_facts.h"

namespace winnow {

// "The video lasts {duration_s} seconds, {frames} frames." with its placeholders filled: duration rounded to whole seconds, or with two
// decimals ({exact_duration_s}), frames, seconds between frames with two decimals ({interval_s}), and the seconds of every frame
// ({frame_times}: "0.00s,0.50s"), of a source that is still running as far apart as they are on the whole.
std::string time_instruction(const std::string& pattern, const VideoTimes& times);

}  // namespace winnow
