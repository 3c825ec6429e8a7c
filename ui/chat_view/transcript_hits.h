// The part of a transcript under a point, and the place where a part is drawn.
//
// Used by transcript_view.h. Points and rectangles are in the column's coordinates (transcript_layout.h). UI thread only.
#pragma once

#include <QUrl>
#include <optional>

#include "ui/chat_view/message_actions.h"
#include "ui/chat_view/transcript_layout.h"

namespace winnow::ui {

// A place between two characters of a text row.
struct TextPosition {
  int message = 0;
  int row = 0;
  int position = 0;
  auto operator<=>(const TextPosition&) const = default;
};

struct Target {
  int message = -1;
  ActionArea area;
  QUrl link;
  bool text = false;
  int mark = -1;    // of the message
  QString formula;  // its source

  bool clickable() const { return area.action != Action::kNone || link.isValid(); }
  bool sameThing(const Target& other) const {
    return message == other.message && area.action == other.area.action && area.index == other.area.index && link == other.link;
  }
};

Target targetAt(const TranscriptLayout& layout, const QPointF& point);
// The nearest place in the text; none where no text is laid out.
std::optional<TextPosition> textPositionAt(const TranscriptLayout& layout, const QPointF& point);
// The row that a mark of a message stands in, by number, and the mark's number there; none: -1.
struct MarkInRow {
  int row = -1;
  int mark = -1;
};
MarkInRow markInRow(const MessageRows& message, int mark);
// Empty where the action is not offered, or the mark is not laid out.
QRectF actionRect(const TranscriptLayout& layout, qint64 message, Action action);
QRectF attachmentRect(const TranscriptLayout& layout, qint64 message, int attachment);
QRectF markRect(const TranscriptLayout& layout, qint64 message, int mark);

}  // namespace winnow::ui
