// The keys of the conversation: from message to message, through what a message holds, and what can be done with it.
#include <QAccessible>
#include <QContextMenuEvent>
#include <QKeyEvent>
#include <QScrollBar>
#include <QToolTip>
#include <algorithm>

#include "ui/chat_view/place_links.h"
#include "ui/chat_view/transcript_view.h"
#include "ui/theme/theme.h"

namespace winnow::ui {

// All of the focused message.
bool TranscriptView::scrollSidewaysByKey(int step) {
  if (m_focusIndex < 0 || m_focusIndex >= messageCount()) return false;
  MessageRows& message = m_layout.at(m_focusIndex);
  bool any = false;
  for (std::size_t row = 0; row < message.rows().size(); ++row) {
    if (message.rows()[row].overflow <= 0) continue;
    message.scrollSideways(row, step * theme().px(60));
    any = true;
  }
  if (any) viewport()->update();
  return any;
}

void TranscriptView::moveFocus(int step) {
  if (messageCount() == 0) return;
  m_focusIndex = m_focusIndex < 0 ? messageCount() - 1 : std::clamp(m_focusIndex + step, 0, messageCount() - 1);
  m_openables.clear();
  const QRectF rect = m_layout.rect(m_focusIndex);
  const int value = verticalScrollBar()->value();
  if (rect.top() < value || rect.bottom() > value + viewport()->height())
    verticalScrollBar()->setValue(qRound(rect.top()) - theme().space(Space::kMedium));
  QAccessibleEvent focus(this, QAccessible::Focus);
  focus.setChild(m_focusIndex);
  QAccessible::updateAccessibility(&focus);
  viewport()->update();
}

// The keyboard shows what a pointer would show, and screen readers hear it.
void TranscriptView::showOpenable() {
  QString words;
  if (const std::optional<Openable> openable = m_openables.present()) {
    const MessageRows& message = m_layout.at(m_focusIndex);
    if (openable->attachment >= 0) {
      words = message.content().attachments[static_cast<std::size_t>(openable->attachment)].title;
      showRect(attachmentRect(m_layout, message.content().id, openable->attachment));
    } else {
      words = linkText(openable->link);
      QPointF below;
      reveal(m_focusIndex, openable->row, [&](const BlockDocument& document) {
        const QRectF rect = document.rectOf(openable->from, openable->to);
        below = rect.bottomLeft();
        return rect;
      });
      below += message.textRect(message.rows()[static_cast<std::size_t>(openable->row)]).topLeft() + QPointF(0, m_layout.top(m_focusIndex));
      QToolTip::showText(viewport()->mapToGlobal((below + origin()).toPoint()), words.toHtmlEscaped(), viewport());
    }
  }
  setAccessibleDescription(words);
  QAccessibleEvent event(this, QAccessible::DescriptionChanged);
  QAccessible::updateAccessibility(&event);
  viewport()->update();
}

// Tab goes through what the focused message holds before it leaves.
bool TranscriptView::focusNextPrevChild(bool next) {
  const bool here = hasFocus() && m_focusIndex >= 0 && m_openables.step(m_layout, m_focusIndex, next ? 1 : -1);
  QToolTip::hideText();
  showOpenable();
  if (here) return true;
  return QAbstractScrollArea::focusNextPrevChild(next);
}

void TranscriptView::keyPressEvent(QKeyEvent* event) {
  if (event->matches(QKeySequence::Copy)) {
    m_selection.isEmpty() ? trigger(m_focusIndex, Action::kCopy, 0) : copySelection();
    return;
  }
  if (event->matches(QKeySequence::SelectAll)) return selectAll();
  QScrollBar* bar = verticalScrollBar();
  const bool control = event->modifiers() & Qt::ControlModifier;
  switch (event->key()) {
    case Qt::Key_Up:
      if (control) return moveFocus(-1);
      bar->triggerAction(QAbstractSlider::SliderSingleStepSub);
      return;
    case Qt::Key_Down:
      if (control) return moveFocus(1);
      bar->triggerAction(QAbstractSlider::SliderSingleStepAdd);
      return;
    case Qt::Key_Left:
    case Qt::Key_Right:
      if (!scrollSidewaysByKey(event->key() == Qt::Key_Right ? 1 : -1)) QAbstractScrollArea::keyPressEvent(event);
      return;
    case Qt::Key_PageUp: bar->triggerAction(QAbstractSlider::SliderPageStepSub); return;
    case Qt::Key_PageDown:
    case Qt::Key_Space: bar->triggerAction(QAbstractSlider::SliderPageStepAdd); return;
    case Qt::Key_F8: moveMark(event->modifiers() & Qt::ShiftModifier ? -1 : 1); return;
    case Qt::Key_Home: bar->setValue(0); return;
    case Qt::Key_End: scrollToEnd(); return;
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (const std::optional<Openable> openable = m_openables.present()) {
        if (openable->attachment < 0) {
          Q_EMIT linkActivated(m_openables.message(), openable->link);
        } else {
          Q_EMIT attachmentActivated(m_openables.message(), openable->attachment);
        }
        return;
      }
      [[fallthrough]];
    case Qt::Key_Menu: {  // what can be done with the message
      if (m_focusIndex < 0) m_focusIndex = messageCount() - 1;
      const QPoint centre = viewport()->rect().center();
      QContextMenuEvent menu(QContextMenuEvent::Keyboard, centre, viewport()->mapToGlobal(centre));
      contextMenuEvent(&menu);
      return;
    }
    default: QAbstractScrollArea::keyPressEvent(event); return;
  }
}

void TranscriptView::focusInEvent(QFocusEvent* event) {
  QAbstractScrollArea::focusInEvent(event);
  const bool byKeys = event->reason() == Qt::TabFocusReason || event->reason() == Qt::BacktabFocusReason;
  if (byKeys && m_focusIndex < 0) m_focusIndex = messageCount() - 1;
  if (event->reason() == Qt::BacktabFocusReason && m_focusIndex >= 0) {
    m_openables.toLast(m_layout, m_focusIndex);
    showOpenable();
  }
  viewport()->update();
}

void TranscriptView::focusOutEvent(QFocusEvent* event) {
  QAbstractScrollArea::focusOutEvent(event);
  viewport()->update();
}

}  // namespace winnow::ui
