// The user's pins of an attachment: ranges of seconds of a video, or the whole of an image.
//
// Stored with the attachment, drawn by the frame strip, made into the engine's pins by turn_builder. Plain values and pure functions.
// Threads: any.
#pragma once

#include <vector>

namespace winnow::app {

struct PinnedRange {
  double fromS = 0.0;  // both ends belong to it; an image has one range, whose times mean nothing
  double toS = 0.0;

  bool contains(double seconds) const { return seconds >= fromS && seconds <= toS; }
  friend bool operator==(const PinnedRange&, const PinnedRange&) = default;
};
using PinnedRanges = std::vector<PinnedRange>;  // ascending, apart

// Ranges that touch or overlap become one.
PinnedRanges withRange(const PinnedRanges& ranges, PinnedRange added);
// Remnants of a twentieth of a second or less go too.
PinnedRanges withoutRange(const PinnedRanges& ranges, PinnedRange removed);
bool anyContains(const PinnedRanges& ranges, double seconds);
// All of it.
bool covered(const PinnedRanges& ranges, PinnedRange range);

// The ranges, each widened to the nearest of the frames if it holds none for sure: a pinned moment always keeps a frame. frames: times,
// ascending; each may be off by up to marginS.
PinnedRanges reachingFrames(const PinnedRanges& ranges, const std::vector<double>& frames, double marginS);

}  // namespace winnow::app
