// Notices about a video's description, whose wishes its pictures are shown without: colours of high dynamic range or of Dolby Vision alone,
// odd turns and pixel shapes, transparency that lies in a stream of its own.
//
// Used for files (video_probe.h) and for running sources (live/live_source.h), so that both say the same. Pure.
#pragma once

#include <vector>

#include "app/media/files/av_handles.h"
#include "engine/media/media_notice.h"

namespace winnow::app {

// pixelShape: of the stream's pixels, 0/x where nothing says it.
std::vector<MediaNotice> descriptionNotices(const AVStream& video, AVRational pixelShape);

}  // namespace winnow::app
