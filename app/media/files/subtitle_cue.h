// One cue of subtitles as its file has it, without markup, and what of a file's subtitles is not told. Plain data.
//
// Made by subtitle_text.h and ass_file.h, joined to lines by subtitle_text.h.
#pragma once

#include <QString>
#include <vector>

#include "engine/media/media_notice.h"

namespace winnow::app {

struct SubtitleCue {
  double startS = 0.0;
  double endS = 0.0;
  std::vector<QString> lines;  // as they stand below each other; none is empty
};

struct SubtitleLosses {
  qsizetype drawings = 0;  // commands that draw a shape
  qsizetype speakers = 0;  // names of who speaks, which players do not show
  qsizetype repeated = 0;  // lines of rolling captions that were told before
  qsizetype untimed = 0;   // lines whose time cannot be read, or that have none

  std::vector<MediaNotice> notices() const;
};

}  // namespace winnow::app
