// Lines that subtitles show several times: on several layers, and in captions that roll, where each cue shows again what the one before it
// showed with something new below or behind it (those of broadcasts, automatic ones).
//
// Used by subtitle_text.h: each is told once. Pure.
#pragma once

#include <vector>

#include "app/media/files/subtitle_cue.h"

namespace winnow::app {

// cues: by their beginnings. Those of one time that say the same (a text and its shadow) are one. Where at least a third of the cues that
// follow one another at once go on from the one before (a line below it, a word behind it, the same for an instant), what they repeat is
// left out and its line lasts longer; a line that grows by words is told as it was at last. Other subtitles stay as they are: what is said
// twice in them is said twice. losses counts the lines left out.
void tellLinesOnce(std::vector<SubtitleCue>& cues, SubtitleLosses& losses);

}  // namespace winnow::app
