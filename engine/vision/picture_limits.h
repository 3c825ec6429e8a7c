// The limits that a picture must keep before anything is computed from it.
//
// Used by the families' image processors: upright RGB8, 1 to 16,384 px a side, at most 64 Mpx and 200:1. Errors: Exception
// kInvalidArgument for an image that is not what it says, kLimitExceeded for its size. Plain function, no torch.
#pragma once

#include "engine/media/frame_source.h"
#include "engine/vision/pixel_size.h"

namespace winnow {

// The picture's size, checked.
PixelSize checked_size(const RgbImage& image);

}  // namespace winnow
