// The ways in which a turn differed from what was asked, in words for people: the terminal's, and those that the window translates and
// makes sentences of.
//
// English clauses that can follow "note: ". Threads: any.
#pragma once

#include <string>

#include "engine/metrics/figures.h"

namespace winnow::app {

// %1 stands for the least tokens of a text that is compressed (RecipeSpec::min_event_tokens). In the context "winnow::app::NoticeTexts".
const char* cacheNotePattern(CompressionNote note);

// "kept more than asked: the method protects some tokens"
std::string cacheNoteText(CompressionNote note, int shortTextTokens);

}  // namespace winnow::app
