// Pointer, keys, menus and actions of TranscriptView; the rest is in transcript_view.cpp.
#include <QAccessible>
#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QScrollBar>
#include <QToolTip>
#include <algorithm>

#include "ui/chat_view/transcript_view.h"
#include "ui/theme/theme.h"
#include "ui/words/error_text.h"

namespace winnow::ui {

TranscriptView::Target TranscriptView::targetAt(const QPoint& viewportPoint) const {
  Target target;
  const QPointF point = toContent(viewportPoint);
  const int index = messageAtY(point.y());
  if (index < 0) return target;
  const MessageRows& message = *m_messages[static_cast<std::size_t>(index)];
  const QPointF local(point.x(), point.y() - m_tops[static_cast<std::size_t>(index)]);
  if (local.y() <= message.height() + theme().px(4)) target.message = index;
  for (const ActionArea& area : message.actions(true)) {
    if (area.rect.contains(local)) {
      target.area = area;
      return target;
    }
  }
  for (const Row& row : message.rows()) {
    if (row.kind != RowKind::kText || !row.document) continue;
    const QRectF rect = message.textRect(row);
    if (!rect.contains(local)) continue;
    target.text = true;
    target.link = row.document->linkAt(local - rect.topLeft());
    if (const int mark = row.document->markAt(local - rect.topLeft()); mark >= 0)
      target.mark = static_cast<int>(message.marksOf(row).first) + mark;
  }
  return target;
}

QRect TranscriptView::actionRect(qint64 id, Action action) const {
  const int index = indexOf(id);
  if (index < 0) return {};
  for (const ActionArea& area : m_messages[static_cast<std::size_t>(index)]->actions(true)) {
    if (area.action == action)
      return area.rect.translated(columnLeft(), m_tops[static_cast<std::size_t>(index)] + contentTop()).toAlignedRect();
  }
  return {};
}

QRect TranscriptView::markRect(qint64 id, int mark) const {
  const int index = indexOf(id);
  if (index < 0 || mark < 0) return {};
  const MessageRows& message = *m_messages[static_cast<std::size_t>(index)];
  for (const Row& row : message.rows()) {
    if (row.kind != RowKind::kText || !row.document) continue;
    const auto [first, last] = message.marksOf(row);
    if (static_cast<std::size_t>(mark) < first || static_cast<std::size_t>(mark) >= last) continue;
    const QRectF local = row.document->markRect(mark - static_cast<int>(first));
    if (local.isEmpty()) return {};
    return local.translated(message.textRect(row).topLeft())
        .translated(columnLeft(), m_tops[static_cast<std::size_t>(index)] + contentTop())
        .toAlignedRect();
  }
  return {};
}

QString TranscriptView::focusedNote() const {
  const MessageContent* content = m_mark < 0 ? nullptr : message(m_markMessage);
  return content != nullptr && static_cast<std::size_t>(m_mark) < content->marks.size()
             ? content->marks[static_cast<std::size_t>(m_mark)].note
             : QString();
}

// From mark to mark over all messages; what a pointer shows is shown here too, and told to screen readers.
void TranscriptView::moveMark(int step) {
  std::vector<std::pair<int, int>> all;  // message, mark
  int at = -1;
  for (int i = 0; i < messageCount(); ++i) {
    const MessageContent& content = messageAt(i);
    for (int mark = 0; mark < static_cast<int>(content.marks.size()); ++mark) {
      if (content.id == m_markMessage && mark == m_mark) at = static_cast<int>(all.size());
      all.emplace_back(i, mark);
    }
  }
  if (all.empty()) return;
  const int count = static_cast<int>(all.size());
  at = at < 0 ? (step > 0 ? 0 : count - 1) : (at + step + count) % count;
  const auto [index, mark] = all[static_cast<std::size_t>(at)];
  m_markMessage = messageAt(index).id;
  m_mark = mark;
  m_focusIndex = index;
  QRect rect = markRect(m_markMessage, m_mark);
  if (rect.isEmpty() || rect.top() < 0 || rect.bottom() > viewport()->height()) {
    // Text that was never near the viewport has no document: its message is brought into view first.
    if (rect.isEmpty()) {
      verticalScrollBar()->setValue(qRound(m_tops[static_cast<std::size_t>(index)]));
      layoutVisible();
      rect = markRect(m_markMessage, m_mark);
    }
    if (!rect.isEmpty()) verticalScrollBar()->setValue(verticalScrollBar()->value() + rect.top() - viewport()->height() / 3);
    rect = markRect(m_markMessage, m_mark);
  }
  const QString note = focusedNote();
  setAccessibleDescription(note);
  QAccessibleEvent event(this, QAccessible::DescriptionChanged);
  QAccessible::updateAccessibility(&event);
  if (!note.isEmpty()) QToolTip::showText(viewport()->mapToGlobal(rect.bottomLeft()), note.toHtmlEscaped(), viewport(), rect);
  viewport()->update();
}

void TranscriptView::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  const Target target = targetAt(event->pos());
  if (target.area.action != Action::kNone || target.link.isValid()) {
    m_pressed = target;
    viewport()->update();
    return;
  }
  m_selectionAnchor = textPositionAt(event->position());
  m_selectionEnd = m_selectionAnchor;
  m_selecting = m_selectionAnchor.has_value();
  viewport()->update();
}

void TranscriptView::mouseMoveEvent(QMouseEvent* event) {
  if (m_selecting) {
    m_selectionEnd = textPositionAt(event->position());
    if (!m_selectionEnd) m_selectionEnd = m_selectionAnchor;
    if (event->pos().y() < 0) verticalScrollBar()->setValue(verticalScrollBar()->value() - theme().px(20));
    if (event->pos().y() > viewport()->height()) verticalScrollBar()->setValue(verticalScrollBar()->value() + theme().px(20));
    viewport()->update();
    return;
  }
  const Target target = targetAt(event->pos());
  const bool clickable = target.area.action != Action::kNone || target.link.isValid();
  viewport()->setCursor(clickable ? Qt::PointingHandCursor : target.text ? Qt::IBeamCursor : Qt::ArrowCursor);
  if (target.message != m_hover.message || target.area.action != m_hover.area.action || target.area.index != m_hover.area.index) {
    m_hover = target;
    viewport()->update();
  }
}

void TranscriptView::mouseReleaseEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  m_selecting = false;
  if (!m_pressed) return;
  const Target pressed = *m_pressed;
  m_pressed.reset();
  const Target released = targetAt(event->pos());
  if (released.message == pressed.message && released.area.action == pressed.area.action && released.area.index == pressed.area.index &&
      released.link == pressed.link) {
    trigger(pressed);
  }
  viewport()->update();
}

void TranscriptView::mouseDoubleClickEvent(QMouseEvent* event) {
  const auto position = textPositionAt(event->position());
  if (!position || targetAt(event->pos()).area.action != Action::kNone) return mousePressEvent(event);
  const Row& row = m_messages[static_cast<std::size_t>(position->message)]->rows()[static_cast<std::size_t>(position->row)];
  TextPosition from = *position, to = *position;
  row.document->wordAround(position->position, from.position, to.position);
  m_selectionAnchor = from;
  m_selectionEnd = to;
  viewport()->update();
}

void TranscriptView::trigger(const Target& target) {
  if (target.link.isValid()) {
    Q_EMIT linkActivated(target.link);
    return;
  }
  if (target.message < 0 || target.message >= messageCount()) return;
  MessageRows& message = *m_messages[static_cast<std::size_t>(target.message)];
  const qint64 id = message.content().id;
  switch (target.area.action) {
    case Action::kCopy:
      QApplication::clipboard()->setText(message.plainText());
      Q_EMIT copied();
      break;
    case Action::kCopyCode: {
      // A long listing may have been cut into several blocks; the code is all of them.
      const auto& blocks = message.splitter().blocks();
      QString code;
      for (std::size_t b = static_cast<std::size_t>(target.area.index); b < blocks.size(); ++b) {
        if (b > static_cast<std::size_t>(target.area.index) && !blocks[b].continues) break;
        code += message.splitter().code(blocks[b]);
      }
      QApplication::clipboard()->setText(code);
      Q_EMIT copied();
      break;
    }
    case Action::kEdit:
      Q_EMIT editRequested(id);
      break;
    case Action::kRegenerate:
    case Action::kRetry:
      Q_EMIT regenerateRequested(id, 0);
      break;
    case Action::kLonger:
      Q_EMIT regenerateRequested(id, message.content().longerTokens);
      break;
    case Action::kKeptMap:
      Q_EMIT keptMapRequested(id);
      break;
    case Action::kStop:
      Q_EMIT stopRequested(id);
      break;
    case Action::kCheck:
      Q_EMIT checkRequested(id);
      break;
    case Action::kComparison:
      Q_EMIT comparisonActivated(id, target.area.index);
      break;
    case Action::kPreviousBranch:
      Q_EMIT branchRequested(id, -1);
      break;
    case Action::kNextBranch:
      Q_EMIT branchRequested(id, 1);
      break;
    case Action::kAttachment:
      Q_EMIT attachmentActivated(id, target.area.index);
      break;
    case Action::kErrorDetails: {
      const bool wasAtEnd = atEnd();
      message.toggleErrorDetails();
      afterChange(wasAtEnd);
      break;
    }
    case Action::kErrorCopy: {
      const ErrorText text = describeError(*message.content().error);
      QApplication::clipboard()->setText(text.cause + QLatin1Char('\n') + text.remedy + QLatin1Char('\n') + text.details);
      Q_EMIT copied();
      break;
    }
    case Action::kNone:
      break;
  }
}

void TranscriptView::moveFocus(int step) {
  if (m_messages.empty()) return;
  if (m_focusIndex < 0) {
    m_focusIndex = messageCount() - 1;
  } else {
    m_focusIndex = std::clamp(m_focusIndex + step, 0, messageCount() - 1);
  }
  const auto index = static_cast<std::size_t>(m_focusIndex);
  const qreal top = m_tops[index], bottom = top + m_messages[index]->height();
  const int value = verticalScrollBar()->value();
  if (top < value || bottom > value + viewport()->height()) verticalScrollBar()->setValue(qRound(top) - theme().space(Space::kMedium));
  QAccessibleEvent focus(this, QAccessible::Focus);
  focus.setChild(m_focusIndex);
  QAccessible::updateAccessibility(&focus);
  viewport()->update();
}

void TranscriptView::keyPressEvent(QKeyEvent* event) {
  if (event->matches(QKeySequence::Copy)) {
    if (hasSelection()) {
      copySelection();
    } else if (m_focusIndex >= 0) {
      trigger({m_focusIndex, {Action::kCopy, {}, {}, 0}, {}, false});
    }
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
    case Qt::Key_PageUp:
      bar->triggerAction(QAbstractSlider::SliderPageStepSub);
      return;
    case Qt::Key_PageDown:
    case Qt::Key_Space:
      bar->triggerAction(QAbstractSlider::SliderPageStepAdd);
      return;
    case Qt::Key_F8:
      moveMark(event->modifiers() & Qt::ShiftModifier ? -1 : 1);
      return;
    case Qt::Key_Home:
      bar->setValue(0);
      return;
    case Qt::Key_End:
      scrollToEnd();
      return;
    case Qt::Key_Menu: {
      const QPoint centre = viewport()->rect().center();
      QContextMenuEvent menu(QContextMenuEvent::Keyboard, centre, viewport()->mapToGlobal(centre));
      contextMenuEvent(&menu);
      return;
    }
    default:
      QAbstractScrollArea::keyPressEvent(event);
      return;
  }
}

void TranscriptView::contextMenuEvent(QContextMenuEvent* event) {
  const bool keyboard = event->reason() == QContextMenuEvent::Keyboard;
  Target target = targetAt(event->pos());
  if (keyboard && m_focusIndex >= 0) target.message = m_focusIndex;
  QMenu menu(this);
  QAction* copy = menu.addAction(tr("&Copy"), this, &TranscriptView::copySelection);
  copy->setEnabled(hasSelection());
  if (target.link.isValid()) {
    const QUrl link = target.link;
    menu.addAction(tr("Copy &link"), this, [link] { QApplication::clipboard()->setText(link.toString(QUrl::FullyEncoded)); });
  }
  if (target.message >= 0) {
    const MessageContent& content = m_messages[static_cast<std::size_t>(target.message)]->content();
    const int index = target.message;
    menu.addAction(tr("Copy &message"), this, [this, index] { trigger({index, {Action::kCopy, {}, {}, 0}, {}, false}); });
    const bool busy = content.status == MessageStatus::kWaiting || content.status == MessageStatus::kStreaming;
    if (content.speaker == Speaker::kAssistant && !busy && !content.bare) {
      menu.addAction(tr("&Regenerate"), this, [this, index] { trigger({index, {Action::kRegenerate, {}, {}, 0}, {}, false}); });
      if (content.checkable) {
        menu.addAction(tr("&What changed? Check against the full cache"), this, [this, index] {
          trigger({index, {Action::kCheck, {}, {}, 0}, {}, false});
        });
      }
      if (content.hasKeptMap) {
        menu.addAction(tr("&Kept tokens"), this, [this, index] { trigger({index, {Action::kKeptMap, {}, {}, 0}, {}, false}); });
      }
    } else if (content.speaker == Speaker::kUser) {
      menu.addAction(tr("&Edit question"), this, [this, index] { trigger({index, {Action::kEdit, {}, {}, 0}, {}, false}); });
      for (int i = 0; i < static_cast<int>(content.comparisons.size()); ++i) {
        menu.addAction(tr("Open: %1").arg(content.comparisons[static_cast<std::size_t>(i)].label), this, [this, index, i] {
          trigger({index, {Action::kComparison, {}, {}, i}, {}, false});
        });
      }
    }
  }
  menu.addSeparator();
  menu.addAction(tr("Select &all"), this, &TranscriptView::selectAll);
  menu.exec(keyboard ? viewport()->mapToGlobal(viewport()->rect().center()) : event->globalPos());
}

bool TranscriptView::viewportEvent(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    const Target target = targetAt(help->pos());
    if (isIconOnly(target.area.action) || target.area.action == Action::kAttachment) {
      QToolTip::showText(help->globalPos(), target.area.label.toHtmlEscaped(), viewport());
    } else if (target.link.isValid()) {
      QToolTip::showText(help->globalPos(), target.link.toString(QUrl::FullyEncoded).toHtmlEscaped(), viewport());
    } else if (target.message >= 0 && target.mark >= 0) {
      const MessageContent& content = messageAt(target.message);
      QToolTip::showText(help->globalPos(), content.marks[static_cast<std::size_t>(target.mark)].note.toHtmlEscaped(), viewport(),
                         markRect(content.id, target.mark));
    } else {
      QToolTip::hideText();
    }
    return true;
  }
  if (event->type() == QEvent::Leave && m_hover.message >= 0) {
    m_hover = Target();
    viewport()->update();
  }
  return QAbstractScrollArea::viewportEvent(event);
}

void TranscriptView::focusInEvent(QFocusEvent* event) {
  QAbstractScrollArea::focusInEvent(event);
  if (event->reason() == Qt::TabFocusReason || event->reason() == Qt::BacktabFocusReason) {
    if (m_focusIndex < 0) m_focusIndex = messageCount() - 1;
  }
  viewport()->update();
}

void TranscriptView::focusOutEvent(QFocusEvent* event) {
  QAbstractScrollArea::focusOutEvent(event);
  viewport()->update();
}

}  // namespace winnow::ui
