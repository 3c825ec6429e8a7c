// The figures of an answer: all of them, and the quiet line under it that names a few.
//
// Used by ui/chat_view; metricTexts() by the export, too. UI thread only (translations).
#pragma once

#include <QFontMetricsF>
#include <QString>
#include <vector>

#include "ui/chat_view/message_content.h"

namespace winnow::ui {

// "vl-cache · 20 %", "0.3 s to first word", ..; empty for an answer without figures.
std::vector<QString> metricTexts(const MessageContent& content);

// All of them and how far the answer is apart, a line each: for the tool tip.
QString figuresHelp(const MessageContent& content);

// "Self-study · 20 % · 387 ms · 43 tok/s", and how the check came out. Both empty without figures.
struct FiguresLine {
  QString figures;
  QString verdict;
};
// Leaves out from the end of the figures what has no room beside the verdict. width: in logical pixels.
FiguresLine figuresLine(const MessageContent& content, const QFontMetricsF& font, qreal width);

}  // namespace winnow::ui
