// Sources that are still running, for the window: app/media/files's reader behind app/media/live's interface.
//
// Used by main.cpp alone. Threads: as clip_reader.h says.
#pragma once

#include "app/media/live/clip_reader.h"

namespace winnow::app {

// Errors: those of app/media/files/live.
ClipReaderFactory liveClips();

}  // namespace winnow::app
