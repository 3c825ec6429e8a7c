// The words of one cue without its markup, and HTML's character references as the characters that they stand for.
//
// Used by subtitle_text.h and subtitles.h. A closed list of tags, each in the form that it has in SubRip and WebVTT; all else between "<"
// and ">" is text ("<Mary laughs>", "<3"). Pure.
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

// HTML's character references ("&eacute;", "&#233;", "&#xE9;") as the characters that they stand for.
//
// A reference ends with ";"; what is none stays as it is. Pure.

// One pass, so that "&amp;lt;" is "&lt;".
QString withoutReferences(const QString& text);

}  // namespace winnow::app
