// Subtitles as text: the cues of SubRip (.srt), WebVTT (.vtt) and SubStation Alpha (.ass, .ssa) as lines of a video.
//
// Used by subtitles.h. Pure. Lenient where players are: counters, settings, notes and styles are passed over, hours may be missing, in
// SubRip an empty line ends no cue. A cue that says nothing is none, one that ends before it begins ends there. What is not told is counted
// in the notices. Errors: Exception kLimitExceeded (more lines, or longer ones, than below), kDamagedFile (no cue at all).
#pragma once

#include <QString>
#include <cstddef>
#include <string>
#include <vector>

#include "app/media/files/subtitle_cue.h"
#include "engine/media/timed_line.h"

namespace winnow::app {

inline constexpr std::size_t kMostSubtitleLines = 20'000;
inline constexpr std::size_t kMostSubtitleBytes = 4'096;  // of one line
inline constexpr std::size_t kMostCues = 100'000;         // of captions that roll, before each line is told once

struct Subtitles {
  std::vector<TimedLine> lines;  // by their beginnings
  std::vector<MediaNotice> notices;
};

// Cues in any order, as lines. subject: names the file in errors.
Subtitles joinCues(std::vector<SubtitleCue> cues, SubtitleLosses losses, const std::string& subject);

// text: lines ending in "\n", as readText() gives them.
Subtitles parseSubtitles(const QString& text, const std::string& subject);

}  // namespace winnow::app
