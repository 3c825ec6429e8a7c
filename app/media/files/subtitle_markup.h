// The words of one cue without its markup.
//
// Used by subtitle_text.h, ass_file.h and subtitles.h. A closed list of tags, each in the form that it has in SubRip and WebVTT; all else
// between "<" and ">" is text ("<Mary laughs>", "<3"). Pure.
#pragma once

#include <QString>
#include <vector>

#include "app/media/files/subtitle_cue.h"

namespace winnow::app {

enum class SubtitleMarkup : int {
  kTags = 1,  // SubRip, WebVTT: <i>, <v Name>, {\an8}, &amp;
  kAss = 2,   // Advanced SubStation: {\pos(1,2)}, {\p1} drawings, \N, \h
};

// Its lines, without those that say nothing; control characters are spaces. losses counts what is not told.
std::vector<QString> plainCue(const QString& cue, SubtitleMarkup markup, SubtitleLosses& losses);

}  // namespace winnow::app
