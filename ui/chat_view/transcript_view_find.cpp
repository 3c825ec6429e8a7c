// Finding words in what is shown, and the marked ones: the parts of transcript_view.h that Ctrl+F and F8 ask.
#include <QAccessible>
#include <QScrollBar>
#include <QToolTip>
#include <algorithm>

#include "ui/chat_view/transcript_view.h"

namespace winnow::ui {

void TranscriptView::find(const QString& words) {
  m_find.look(m_layout, words, std::max(0, m_layout.messageAt(verticalScrollBar()->value())));
  showFound();
}

void TranscriptView::stepFound(int by) {
  m_find.step(by);
  showFound();
}

void TranscriptView::lookAgain(int message) {
  if (message < 0) return;
  if (m_openables.message() == messageAt(message).id) m_openables.lookAgain(m_layout);
  if (!m_find.active()) return;
  m_find.lookAgain(m_layout, message);
  viewport()->update();
  Q_EMIT foundChanged(m_find.index(), m_find.count());
}

void TranscriptView::showFound() {
  if (const std::optional<TranscriptFind::Range> found = m_find.present()) {
    reveal(found->from.message, found->from.row,
           [&found](const BlockDocument& document) { return document.rectOf(found->from.position, found->to); });
  }
  viewport()->update();
  Q_EMIT foundChanged(m_find.index(), m_find.count());
}

// Text that was never near the viewport has no document: its row is brought into view first.
void TranscriptView::reveal(int index, int number, const std::function<QRectF(const BlockDocument&)>& place) {
  MessageRows& message = m_layout.at(index);
  const auto row = [&]() -> const Row& { return message.rows()[static_cast<std::size_t>(number)]; };
  if (!row().document) {
    verticalScrollBar()->setValue(qRound(m_layout.top(index) + row().top));
    layoutVisible();
  }
  const QRectF local = row().document ? place(*row().document) : QRectF();
  if (local.isEmpty()) return;
  if (row().overflow > 0) {  // a wide table
    const qreal left = local.left() - row().sideways;
    if (left < 0 || left + local.width() > m_layout.width())
      message.scrollSideways(static_cast<std::size_t>(number), left - m_layout.width() / 3);
  }
  showRect(local.translated(message.textRect(row()).topLeft()).translated(0, m_layout.top(index)));
}

void TranscriptView::showRect(const QRectF& rect) {
  const int value = verticalScrollBar()->value();
  if (rect.top() < value || rect.bottom() > value + viewport()->height())
    verticalScrollBar()->setValue(qRound(rect.top()) - viewport()->height() / 3);
}

// From mark to mark over all messages; what a pointer shows is shown here too, and told to screen readers.
void TranscriptView::moveMark(int step) {
  if (!m_marks.step(m_layout, step)) return;
  m_focusIndex = m_layout.indexOf(m_marks.message());
  const MarkInRow at = markInRow(m_layout.at(m_focusIndex), m_marks.mark());
  if (at.row >= 0) reveal(m_focusIndex, at.row, [&at](const BlockDocument& document) { return document.markRect(at.mark); });
  const QString note = focusedNote();
  setAccessibleDescription(note);
  QAccessibleEvent event(this, QAccessible::DescriptionChanged);
  QAccessible::updateAccessibility(&event);
  const QRect rect = markRect(m_marks.message(), m_marks.mark());
  if (!note.isEmpty()) QToolTip::showText(viewport()->mapToGlobal(rect.bottomLeft()), note.toHtmlEscaped(), viewport(), rect);
  viewport()->update();
}

}  // namespace winnow::ui
