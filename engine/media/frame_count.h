// How many media one request reads at most, and how many frames there are to take from a part of a video whose frames all last the same
// time.
//
// Used by generation/segment, app/programs/cli, ui/composer. Pure arithmetic.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace winnow {

// All are open while they are read, and a process may have a few thousand open files.
inline constexpr std::size_t kMostMedia = 1'000;

// In `span_s` seconds of a video that has video_frames frames in duration_s seconds; at least one.
inline std::int64_t frames_in_range(double span_s, double duration_s, std::int64_t video_frames) {
  return std::max<std::int64_t>(1, std::llround(static_cast<double>(video_frames) * span_s / duration_s));
}

}  // namespace winnow
