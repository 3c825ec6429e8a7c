// How the stored pictures of a video lie: the shape of their pixels and how they are turned; and what of a video's description is not
// followed.
//
// Used by the probe of files and by live sources. Pure functions on what FFmpeg read.
#pragma once

#include <optional>
#include <vector>

#include "app/media/files/av_handles.h"
#include "app/media/files/orientation.h"
#include "engine/media/media_notice.h"

namespace winnow::app {

// Width in square pixels of a picture of widthPx whose pixels have the shape `aspect` (0/x: not said); nullopt: the shape is implausible.
std::optional<int> squarePixelWidth(int widthPx, AVRational aspect);

// The orientation that a stream's display matrix asks for.
MatrixOrientation streamOrientation(const AVStream& stream);

// The largest size of the same shape inside a box; the box itself where its shape is the same but for rounding.
PictureSize fitInside(PictureSize shape, PictureSize box);

// In the middle of a black picture that is not smaller.
RgbImage centredOnBlack(const RgbImage& picture, PictureSize size);

// Notices about a video's description, whose wishes its pictures are shown without: colours of high dynamic range or of Dolby Vision alone,
// odd turns and pixel shapes, transparency that lies in a stream of its own.
//
// Used for files (video_probe.h) and for running sources (live/live_source.h), so that both say the same. Pure.

// pixelShape: of the stream's pixels, 0/x where nothing says it.
std::vector<MediaNotice> descriptionNotices(const AVStream& video, AVRational pixelShape);

}  // namespace winnow::app
