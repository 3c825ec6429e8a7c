// Times as subtitles write them. Used by subtitle_text.h and ass_file.h. Pure.
#pragma once

#include <QStringView>
#include <optional>
#include <utility>

namespace winnow::app {

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
