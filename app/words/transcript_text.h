// Lines with times as files of subtitles and as plain text.
//
// Used by the terminal program, and where transcripts are kept. Line ends are "\n". Times are those of the lines, rounded to milliseconds.
// Any thread.
#pragma once

#include <string>
#include <vector>

#include "engine/media/timed_line.h"

namespace winnow::app {

std::string subRipText(const std::vector<TimedLine>& lines);  // .srt
std::string webVttText(const std::vector<TimedLine>& lines);  // .vtt; what markup would be is escaped
// "[0:07] The keeper wrote a letter.": a document that any text model can read.
std::string clockedText(const std::vector<TimedLine>& lines);

}  // namespace winnow::app
