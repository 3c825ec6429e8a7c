// How the stored pictures of a video lie: the shape of their pixels and how they are turned.
//
// Used by the probe of files and by live sources. Pure functions on what FFmpeg read.
#pragma once

#include <optional>

#include "app/media/files/av_handles.h"
#include "app/media/files/orientation.h"

namespace winnow::app {

// Width in square pixels of a picture of widthPx whose pixels have the shape `aspect` (0/x: not said); nullopt: the shape is implausible.
std::optional<int> squarePixelWidth(int widthPx, AVRational aspect);

// The orientation that a stream's display matrix asks for.
MatrixOrientation streamOrientation(const AVStream& stream);

// The largest size of the same shape inside a box; the box itself where its shape is the same but for rounding.
PictureSize fitInside(PictureSize shape, PictureSize box);

// In the middle of a black picture that is not smaller.
RgbImage centredOnBlack(const RgbImage& picture, PictureSize size);

}  // namespace winnow::app
