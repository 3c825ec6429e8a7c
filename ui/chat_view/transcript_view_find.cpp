// Finding words in what is shown, and the marked ones: the parts of transcript_view.h that Ctrl+F and F8 ask.
#include <QAccessible>
#include <QScrollBar>
#include <QToolTip>
#include <algorithm>

#include "ui/chat_view/transcript_view.h"
#include "ui/theme/theme.h"

namespace winnow::ui {

void TranscriptView::find(const QString& words) {
  m_find.look(m_layout, words, std::max(0, m_layout.messageAt(verticalScrollBar()->value())));
  showFound();
}

void TranscriptView::stepFound(int by) {
  m_find.step(by);
  showFound();
}

void TranscriptView::findAgain(int message) {
  if (!m_find.active() || message < 0) return;
  m_find.lookAgain(m_layout, message);
  viewport()->update();
  Q_EMIT foundChanged(m_find.index(), m_find.count());
}

void TranscriptView::showFound() {
  if (const std::optional<TranscriptFind::Range> found = m_find.present()) {
    const auto rect = [&]() -> QRectF {
      const MessageRows& message = m_layout.at(found->from.message);
      const Row& row = message.rows()[static_cast<std::size_t>(found->from.row)];
      if (!row.document) return {};
      const QRectF inRow = row.document->rectOf(found->from.position, found->to);
      return inRow.translated(message.textRect(row).topLeft()).translated(0, m_layout.top(found->from.message));
    };
    if (rect().isEmpty()) {
      // Text that was never near the viewport has no document: its row is brought into view first.
      const Row& row = m_layout.at(found->from.message).rows()[static_cast<std::size_t>(found->from.row)];
      verticalScrollBar()->setValue(qRound(m_layout.top(found->from.message) + row.top));
      layoutVisible();
    }
    const QRectF at = rect();
    const int value = verticalScrollBar()->value();
    if (at.top() < value || at.bottom() > value + viewport()->height())
      verticalScrollBar()->setValue(qRound(at.top()) - viewport()->height() / 3);
  }
  viewport()->update();
  Q_EMIT foundChanged(m_find.index(), m_find.count());
}

// From mark to mark over all messages; what a pointer shows is shown here too, and told to screen readers.
void TranscriptView::moveMark(int step) {
  if (!m_marks.step(m_layout, step)) return;
  m_focusIndex = m_layout.indexOf(m_marks.message());
  const auto rect = [this] { return markRect(m_marks.message(), m_marks.mark()); };
  if (rect().isEmpty()) {
    // Text that was never near the viewport has no document: its message is brought into view first.
    verticalScrollBar()->setValue(qRound(m_layout.top(m_focusIndex)));
    layoutVisible();
  }
  if (const QRect at = rect(); !at.isEmpty() && (at.top() < 0 || at.bottom() > viewport()->height()))
    verticalScrollBar()->setValue(verticalScrollBar()->value() + at.top() - viewport()->height() / 3);
  const QString note = focusedNote();
  setAccessibleDescription(note);
  QAccessibleEvent event(this, QAccessible::DescriptionChanged);
  QAccessible::updateAccessibility(&event);
  if (!note.isEmpty()) QToolTip::showText(viewport()->mapToGlobal(rect().bottomLeft()), note.toHtmlEscaped(), viewport(), rect());
  viewport()->update();
}

}  // namespace winnow::ui
