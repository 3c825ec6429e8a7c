// --subtitles: which subtitles of a video stand between its frames, as the terminal takes it.
//
// Used by turn_options.h and by what makes requests of videos. Errors: Exception(kInvalidArgument).
#pragma once

#include <string>

#include "app/programs/cli/turn_options.h"

namespace CLI {
class App;
}

namespace winnow::cli {

void add_subtitle_option(CLI::App& command, TurnOptions& options);

// The value of MediaRequest::subtitles: those asked for. Not asked (an empty option): none, and standard error says if there are some;
// "none": none; "auto": those beside the video or inside it, and standard error says if there are none; else the file named, for the only
// video.
std::string subtitles_for(const std::string& video, const TurnOptions& options);

}  // namespace winnow::cli
