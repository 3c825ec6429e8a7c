// Cameras (V4L2) and the screen (X11) through FFmpeg's devices; each by its own, named one.
//
// Used by LiveContainer. Errors: kDeviceUnavailable (no such camera or screen, or not in this build of FFmpeg), kFileUnreadable (no
// permission). Threads: the reading thread.
#pragma once

#include "app/media/files/av_handles.h"
#include "app/media/files/live/live_request.h"

namespace winnow::app {

// Opens the device of the request in `format`, which is freed and null after an error.
void openCapture(AVFormatContext*& format, const LiveRequest& request);

}  // namespace winnow::app
