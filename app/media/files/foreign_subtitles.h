// Formats of subtitles that are not read here: which of them a text is, and what makes one of it that is.
//
// Used by parseSubtitles() where no line has a time and words. Pure.
#pragma once

#include <QStringView>

namespace winnow::app {

// The end of a sentence: "these are SAMI subtitles, which ...; this converts them: ..."; null: nothing that is known.
const char* foreignSubtitles(QStringView text);

}  // namespace winnow::app
