// A line of subtitles: what is said in a stretch of a video's time. Plain data, every layer.
//
// Read by app/media/files/files (subtitles.h), delivered by a FrameSource, put between a video's frames by engine/generation.
#pragma once

#include <string>
#include <vector>

namespace winnow {

// Seconds from the start of the file, as a frame's are.
struct TimedLine {
  double start_s = 0.0;
  double end_s = 0.0;  // not before start_s
  std::string text;    // UTF-8 without markup, in one line; not empty

  friend bool operator==(const TimedLine&, const TimedLine&) = default;
};

// Those of the part of a video that is looked at: not over before from_s, begun before to_s; negative: all that follow, as what is said
// while the last picture stands or is gone.
inline std::vector<TimedLine> lines_between(std::vector<TimedLine> lines, double from_s, double to_s) {
  std::erase_if(lines, [&](const TimedLine& line) { return line.end_s < from_s || (to_s >= 0.0 && line.start_s >= to_s); });
  return lines;
}

}  // namespace winnow
