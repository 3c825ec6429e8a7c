// Notices about a medium or a turn, in words for people: the terminal's, and those that the window translates and makes sentences of.
//
// English clauses that can follow "FILE: " or "note: ". Threads: any.
#pragma once

#include <string>

#include "engine/media/media_notice.h"
#include "engine/metrics/figures.h"

namespace winnow::app {

// The clause, %1 standing for the notice's amount, %2 for what it is of, %3 for its name. In the context "winnow::app::NoticeTexts". Of a
// code that this program does not know (a chat of a newer one): that something was noticed.
const char* noticePattern(const MediaNotice& notice);

// "the file is cut off: 1234 bytes are missing at the end"
std::string noticeText(const MediaNotice& notice);

// The ways in which a turn differed from what was asked, in words for people: the terminal's, and those that the window translates and
// makes sentences of.
//
// English clauses that can follow "note: ".

// %1 stands for the least tokens of a text that is compressed (RecipeSpec::min_event_tokens). In the context "winnow::app::NoticeTexts".
const char* cacheNotePattern(CompressionNote note);

// "kept more than asked: the method protects some tokens"
std::string cacheNoteText(CompressionNote note, int shortTextTokens);

}  // namespace winnow::app
