// The moment at which a player's clock shows 0 while it plays a video: at the beginning of the file, which sound may have before pictures.
//
// Used by VideoContainer and LiveContainer, so that a file has the same times whether it is attached or watched. A recording may begin at
// any hour of its own clock; priming samples of sound before the container's 0 are not played. Pure.
#pragma once

#include <cstdint>

#include "app/media/files/av_handles.h"

namespace winnow::app {

// In ticks of `video`, not after its first picture; 0 where nothing says when it begins. Covers and subtitles do not count.
std::int64_t timeOrigin(const AVFormatContext& format, const AVStream& video);

}  // namespace winnow::app
