// How a transcript looks: bubbles, rows, buttons, rings.
//
// Used by transcript_view.h for one paint event at a time. Coordinates are the column's (transcript_layout.h). Changes nothing. UI thread
// only.
#pragma once

#include <QRectF>
#include <optional>

#include "ui/chat_view/transcript_find.h"
#include "ui/chat_view/transcript_hits.h"
#include "ui/chat_view/transcript_layout.h"
#include "ui/chat_view/transcript_selection.h"
#include "ui/chat_view/transcript_walks.h"

class QPainter;

namespace winnow::ui {

// The look of what is drawn differently from how the messages are.
struct TranscriptLook {
  const TranscriptSelection& selection;
  const TranscriptFind& find;
  const MarkWalk& marks;
  const OpenableWalk& openables;
  const Target& hover;
  bool focused = false;  // the keyboard is here
  int focusedMessage = -1;
  int animationStep = 0;
};

class TranscriptPainter {
 public:
  TranscriptPainter(QPainter& painter, const TranscriptLayout& layout, const TranscriptLook& look);
  // The messages that meet `clip`.
  void paint(const QRectF& clip);

 private:
  using Tints = std::vector<BlockDocument::Tint>;
  Tints tintsOf(int index, std::size_t row) const;
  void paintMessage(int index, const QRectF& clip);
  void paintRow(int index, std::size_t row, const QRectF& clip);
  void paintRole(const MessageContent& content, const QRectF& rect);
  void paintAttachments(int index, const QRectF& rect);
  void paintAttachment(const AttachmentSummary& attachment, const QRectF& card, bool hovered);
  void paintTile(const AttachmentSummary& image, const QRectF& tile, bool hovered, int more);
  void paintThumbnail(const AttachmentSummary& attachment, const QRectF& thumb);
  std::optional<Openable> openableOf(const MessageRows& message) const;  // at which the keyboard stands
  void paintRing(const QRectF& rect, qreal radius);
  void paintText(int index, std::size_t row, const QRectF& clip);
  void paintSideways(const MessageRows& message, const ActionArea& area, bool hovered);
  void paintThoughtBar(const QRectF& rect);
  void paintTail(const QString& line, const QRectF& rect);
  void paintCodeGround(const MessageRows& message, const Row& row, const QRectF& rect);
  void paintPhase(const MessageContent& content, const QRectF& rect);
  void paintError(const MessageRows& message, const QRectF& rect);
  void paintNote(const MessageContent& content, const QRectF& rect);
  void paintFigures(const MessageContent& content, const ActionArea& area, bool hovered);
  void paintFooter(const MessageRows& message);
  void paintAction(const ActionArea& area, bool hovered);
  bool hovers(int message, const ActionArea& area) const;

  QPainter& m_painter;
  const TranscriptLayout& m_layout;
  const TranscriptLook& m_look;
};

}  // namespace winnow::ui
