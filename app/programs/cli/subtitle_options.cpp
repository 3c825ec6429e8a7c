#include "app/programs/cli/subtitle_options.h"

#include <CLI/CLI.hpp>

#include "app/media/files/subtitles.h"
#include "app/programs/cli/console_output.h"
#include "app/programs/cli/media_reading.h"
#include "engine/base/error.h"

namespace winnow::cli {
namespace {

constexpr const char* kAuto = "auto";
constexpr const char* kNone = "none";

// A video that cannot be opened has none to offer; the engine says what is wrong with it.
std::string found_for(const std::string& video) {
  try {
    return app::subtitlesOf(video, media_reader().probe(video));
  } catch (const Exception&) {
    return {};
  }
}

}  // namespace

void add_subtitle_option(CLI::App& command, TurnOptions& options) {
  command.add_option(
      "--subtitles", options.subtitles,
      "subtitles to read between a video's frames: auto (the .srt, .vtt, .ass or .ssa beside it, or text inside it), none, or a file");
}

std::string subtitles_for(const std::string& video, const TurnOptions& options) {
  const std::string& asked = options.subtitles;
  if (asked == kNone) return {};
  if (!asked.empty() && asked != kAuto) {
    if (options.videos.size() > 1) {
      throw Exception(ErrorCode::kInvalidArgument, "--subtitles",
                      "a file belongs to one video, but there are " + std::to_string(options.videos.size()) +
                          " (auto finds those beside or inside each)");
    }
    return asked;
  }
  const std::string found = found_for(video);
  if (asked.empty()) {
    if (!found.empty()) {
      print_err("%s has subtitles%s: read them with --subtitles auto\n", video.c_str(),
                found == video ? " inside" : (" (" + found + ")").c_str());
    }
    return {};
  }
  if (found.empty()) print_err("%s: there are no subtitles beside or inside it\n", video.c_str());
  return found;
}

}  // namespace winnow::cli
