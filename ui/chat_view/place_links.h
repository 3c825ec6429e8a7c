// Times in an answer about one video, "0:15" or "1:02:03", as links that lead to its frame.
//
// Made by block_document.h of what stands in the text; no address that a model writes is one of them. Used by the transcript and by who
// opens the frame. Pure.
#pragma once

#include <QString>
#include <QUrl>
#include <optional>
#include <vector>

#include "ui/chat_view/markdown_parser.h"

namespace winnow::ui {

// Cuts the runs at each time from 0 to that many seconds, and links it. Code, formulas and links stay as they are.
void linkTimes(std::vector<TextRun>& runs, double upToS);

// The seconds that such a link leads to; not set: it is another link.
std::optional<double> timeOf(const QUrl& link);

// A link in words: its address, or that it leads to a frame.
QString linkText(const QUrl& link);

}  // namespace winnow::ui
