// Sources that are still running, for the window: app/media's reader behind app/watch's interface.
//
// Used by main.cpp alone. Threads: as clip_reader.h says.
#pragma once

#include "app/watch/clip_reader.h"

namespace winnow::app {

// Errors: those of app/media/live.
ClipReaderFactory liveClips();

}  // namespace winnow::app
