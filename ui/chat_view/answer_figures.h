// The figures under an answer: what they say, and where they stand.
//
// Used inside ui/chat_view only. UI thread only (translations).
#pragma once

#include <QRectF>
#include <vector>

#include "ui/chat_view/message_content.h"

namespace winnow::ui {

// "vl-cache · 20 %", "0.3 s to first word", ..; empty for an answer without figures.
std::vector<QString> metricTexts(const MessageContent& content);

// Puts as many in a line as fit, from the origin on.
std::vector<QRectF> chipRects(const std::vector<QString>& texts, const QPointF& origin, qreal width);

}  // namespace winnow::ui
