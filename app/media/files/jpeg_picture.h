// A picture as a JPEG file, for servers that look at pictures for us.
//
// By FFmpeg's encoder, full colour range, at a quality at which models see no difference. Errors: Exception(kInternal) where this FFmpeg
// has no JPEG encoder. Pure function, any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/media/frame_source.h"

namespace winnow::app {

// Scaled down until no side is longer than that.
std::vector<std::uint8_t> jpegOf(const RgbImage& image, int maxSidePx);

}  // namespace winnow::app
