// Small copies of pictures for lists and the frame strip.
//
// Area averaging (OpenCV), so that fine detail does not flicker; never enlarges; a side is at least 1 px. Pure function, any thread.
// Errors: kInvalidArgument for maxSidePx < 1.
#pragma once

#include "engine/media/frame_source.h"

namespace winnow::app {

// The size of the small copy of a picture of this size.
PictureSize thumbnailSize(PictureSize size, int maxSidePx);

// By area averaging; neither side may grow.
RgbImage scaledTo(const RgbImage& image, PictureSize size);

RgbImage makeThumbnail(const RgbImage& image, int maxSidePx);

}  // namespace winnow::app
