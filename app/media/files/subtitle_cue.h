// One cue of subtitles as its file has it, without markup, its times as subtitles write them, and what of a file's subtitles is not told.
// Plain data, pure functions.
//
// Made by subtitle_text.h, which joins cues to lines.
#pragma once

#include <QString>
#include <QStringView>
#include <optional>
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

// Times as subtitles write them. Pure.

// "01:02:03,456", "02:03.456", "02:03", "01:02:03:456", "-00:00:01,000": hours may be missing, "," "." and, before three digits, ":" part
// seconds from thousandths. None: it is no time.
std::optional<double> subtitleSeconds(QStringView text);

// Times in "00:01,000 --> 00:02,500 align:start". Spaces within a time, and other arrows between times with seconds, are what people write
// too.
struct CueTimes {
  double startS = 0.0;
  double endS = 0.0;
};
std::optional<CueTimes> cueTimes(QStringView line);
// A line that is meant to have times, which cannot be read.
bool wouldBeTimes(QStringView line);

}  // namespace winnow::app
