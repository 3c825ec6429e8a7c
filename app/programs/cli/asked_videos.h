// One question put to each of many videos in the terminal: `find --ask`.
//
// app/engine/video_shelf does it, for the window as well. What was read of a video is kept in the data folder, so that a later question
// reads nothing again. Errors: Exception with the engine's error. Main thread only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/engine/video_shelf/video_steps.h"
#include "app/programs/cli/session.h"
#include "app/programs/cli/turn_options.h"

namespace winnow::cli {

struct AskedVideo {
  std::string path;
  bool kept = false;  // what was read of it before; nothing is read again
  app::VideoAnswer answer;
};

// options: of all videos, but for the videos. Nothing: it was interrupted.
std::optional<AskedVideo> ask_video(Session& session, const TurnOptions& options, const std::string& video,
                                    const app::PutQuestion& question);

// The videos among files and folders, those of a folder as people count. Throws Exception for a folder without one.
std::vector<std::string> videos_in(const std::vector<std::string>& paths);

}  // namespace winnow::cli
