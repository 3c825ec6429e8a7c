// Notices about a medium, in words for people: the terminal's, and those that the window translates and makes sentences of.
//
// English clauses that can follow "FILE: ". Threads: any.
#pragma once

#include <string>

#include "engine/media/media_notice.h"

namespace winnow::app {

// The clause, %1 standing for the notice's amount, %2 for what it is of, %3 for its name. In the context "winnow::app::NoticeTexts". Of a
// code that this program does not know (a chat of a newer one): that something was noticed.
const char* noticePattern(const MediaNotice& notice);

// "the file is cut off: 1234 bytes are missing at the end"
std::string noticeText(const MediaNotice& notice);

}  // namespace winnow::app
