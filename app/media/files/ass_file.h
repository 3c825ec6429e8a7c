// Advanced SubStation Alpha (.ass, .ssa): the events of a file that are said.
//
// Used by subtitle_text.h. Lenient where players are: the order of an event's fields is that of the section's Format line, comments and
// other sections are passed over. Pure.
#pragma once

#include <QStringView>
#include <vector>

#include "app/media/files/subtitle_cue.h"

namespace winnow::app {

// True if the text is such a file.
bool isAssFile(QStringView text);

// Its events, in the order of the file.
std::vector<SubtitleCue> readAssFile(QStringView text, SubtitleLosses& losses);

}  // namespace winnow::app
