// How many frames there are to take from a part of a video whose frames all last the same time. Pure arithmetic. Used by ui/composer.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace winnow {

// In `span_s` seconds of a video that has video_frames frames in duration_s seconds; at least one.
inline std::int64_t frames_in_range(double span_s, double duration_s, std::int64_t video_frames) {
  return std::max<std::int64_t>(1, std::llround(static_cast<double>(video_frames) * span_s / duration_s));
}

}  // namespace winnow
