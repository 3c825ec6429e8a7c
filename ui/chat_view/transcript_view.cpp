#include "ui/chat_view/transcript_view.h"

#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMenu>
#include <QMimeData>
#include <QMouseEvent>
#include <QPushButton>
#include <QScrollBar>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "ui/chat_view/transcript_accessible.h"
#include "ui/shell/error_text.h"
#include "ui/theme/icons.h"
#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {
constexpr int kColumnUnits = 760;  // a line longer than this is hard to read
constexpr int kAnimationIntervalMs = 100;
}  // namespace

TranscriptView::TranscriptView(QWidget* parent) : QAbstractScrollArea(parent) {
  installTranscriptAccessibility();
  setFrameShape(QFrame::NoFrame);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(tr("Conversation"));
  viewport()->setMouseTracking(true);
  viewport()->setBackgroundRole(QPalette::Window);
  verticalScrollBar()->setSingleStep(theme().px(40));
  m_pill = new QPushButton(icon(Glyph::kArrowDown), tr("Jump to latest"), this);
  m_pill->setAccessibleName(tr("Jump to latest"));
  m_pill->hide();
  connect(m_pill, &QPushButton::clicked, this, &TranscriptView::scrollToEnd);
  connect(&theme(), &Theme::changed, this, [this] {
    const Anchor here = anchor();
    verticalScrollBar()->setSingleStep(theme().px(40));
    for (auto& message : m_messages) message->invalidate();
    relayout(true);
    restoreAnchor(here);
  });
}

TranscriptView::~TranscriptView() = default;

QSize TranscriptView::minimumSizeHint() const { return QSize(theme().px(240), theme().px(80)); }

qreal TranscriptView::columnWidth() const {
  const qreal margin = theme().space(Space::kHuge);
  return std::max<qreal>(120, std::min<qreal>(theme().px(kColumnUnits), viewport()->width() - 2 * margin));
}

qreal TranscriptView::columnLeft() const { return std::floor((viewport()->width() - columnWidth()) / 2); }

qreal TranscriptView::contentTop() const { return -verticalScrollBar()->value(); }

QPointF TranscriptView::toContent(const QPointF& point) const { return QPointF(point.x() - columnLeft(), point.y() - contentTop()); }

int TranscriptView::indexOf(qint64 id) const {
  for (std::size_t i = m_messages.size(); i-- > 0;) {
    if (m_messages[i]->content().id == id) return static_cast<int>(i);
  }
  return -1;
}

const MessageContent* TranscriptView::message(qint64 id) const {
  const int index = indexOf(id);
  return index < 0 ? nullptr : &m_messages[static_cast<std::size_t>(index)]->content();
}

void TranscriptView::setMessages(std::vector<MessageContent> messages) {
  m_messages.clear();
  m_selectionAnchor.reset();
  m_selectionEnd.reset();
  m_hover = Target();
  m_pressed.reset();
  m_focusIndex = -1;
  for (MessageContent& message : messages) m_messages.push_back(std::make_unique<MessageRows>(std::move(message)));
  relayout(true);
  scrollToEnd();
  updateAnimation();
}

void TranscriptView::appendMessage(MessageContent message) {
  const bool wasAtEnd = atEnd();
  m_messages.push_back(std::make_unique<MessageRows>(std::move(message)));
  m_messages.back()->layout(columnWidth());
  afterChange(wasAtEnd);
  updateAnimation();
  QAccessibleEvent event(this, QAccessible::ObjectReorder);
  QAccessible::updateAccessibility(&event);
}

void TranscriptView::updateMessage(const MessageContent& message) {
  const int index = indexOf(message.id);
  if (index < 0) return;
  const bool wasAtEnd = atEnd();
  m_messages[static_cast<std::size_t>(index)]->update(message);
  m_hover = Target();
  afterChange(wasAtEnd);
  updateAnimation();
}

void TranscriptView::removeMessage(qint64 id) {
  const int index = indexOf(id);
  if (index < 0) return;
  const bool wasAtEnd = atEnd();
  m_messages.erase(m_messages.begin() + index);
  m_selectionAnchor.reset();
  m_selectionEnd.reset();
  m_hover = Target();
  m_pressed.reset();
  m_focusIndex = std::min<int>(m_focusIndex, messageCount() - 1);
  afterChange(wasAtEnd);
  updateAnimation();
}

void TranscriptView::appendText(qint64 id, const QString& delta) {
  const int index = indexOf(id);
  if (index < 0 || delta.isEmpty()) return;
  const bool wasAtEnd = atEnd();
  m_messages[static_cast<std::size_t>(index)]->appendText(delta);
  afterChange(wasAtEnd);
}

void TranscriptView::setPhase(qint64 id, const QString& phase, double share) {
  const int index = indexOf(id);
  if (index < 0) return;
  const bool wasAtEnd = atEnd();
  m_messages[static_cast<std::size_t>(index)]->setPhase(phase, share);
  afterChange(wasAtEnd);
  updateAnimation();
}

void TranscriptView::relayout(bool) {
  for (auto& message : m_messages) message->layout(columnWidth());
  computeTops();
  updateScrollBar();
  layoutVisible();
  viewport()->update();
}

void TranscriptView::computeTops(std::size_t from) {
  m_tops.resize(m_messages.size() + 1);
  qreal y = from == 0 ? theme().space(Space::kHuge) : m_tops[from];
  for (std::size_t i = from; i < m_messages.size(); ++i) {
    m_tops[i] = y;
    y += m_messages[i]->height() + theme().space(Space::kHuge);
  }
  m_tops[m_messages.size()] = y;
}

void TranscriptView::afterChange(bool wasAtEnd) {
  computeTops();
  updateScrollBar();
  if (wasAtEnd) {
    scrollToEnd();
  } else {
    layoutVisible();
  }
  updatePill();
  viewport()->update();
}

void TranscriptView::updateScrollBar() {
  const int total = static_cast<int>(std::ceil(m_tops.empty() ? 0 : m_tops.back()));
  const int page = viewport()->height();
  verticalScrollBar()->setPageStep(std::max(1, page));
  verticalScrollBar()->setRange(0, std::max(0, total - page));
}

// Measures what is in view. Heights that turn out different above the top of the viewport move the scroll bar along, so that what the
// reader looks at stays where it is.
void TranscriptView::layoutVisible() {
  if (m_layingOut || m_messages.empty()) return;
  m_layingOut = true;
  const qreal page = viewport()->height();
  for (int round = 0; round < 4; ++round) {
    const qreal top = verticalScrollBar()->value();
    const qreal bottom = top + page;
    bool changed = false;
    qreal shift = 0;
    const int first = messageAtY(top);
    for (std::size_t i = static_cast<std::size_t>(std::max(0, first)); i < m_messages.size() && m_tops[i] <= bottom; ++i) {
      MessageRows& message = *m_messages[i];
      const qreal before = message.height();
      // The row that crosses the top of the viewport keeps its lower edge: rows above it were not measured.
      if (message.measureRows(top - m_tops[i] - page * 0.25, bottom - m_tops[i] + page * 0.25)) {
        changed = true;
        if (m_tops[i] < top && m_tops[i] + before <= top + 1) shift += message.height() - before;
      }
    }
    if (!changed) break;
    const bool end = atEnd();
    computeTops();
    updateScrollBar();
    if (end) {
      verticalScrollBar()->setValue(verticalScrollBar()->maximum());
    } else if (shift != 0) {
      verticalScrollBar()->setValue(verticalScrollBar()->value() + qRound(shift));
    }
  }
  const qreal top = verticalScrollBar()->value();
  for (std::size_t i = 0; i < m_messages.size(); ++i) {
    m_messages[i]->releaseOutside(top - m_tops[i] - page, top + 2 * page - m_tops[i]);
  }
  m_layingOut = false;
}

void TranscriptView::updatePill() {
  const bool show = !atEnd() && !m_messages.empty();
  if (show) {
    m_pill->adjustSize();
    m_pill->move((viewport()->width() - m_pill->width()) / 2, viewport()->height() - m_pill->height() - theme().space(Space::kMedium));
    m_pill->raise();
  }
  m_pill->setVisible(show);
}

bool TranscriptView::atEnd() const { return verticalScrollBar()->value() >= verticalScrollBar()->maximum() - theme().px(8); }

void TranscriptView::scrollToEnd() {
  // Measuring the end may change its height; a few rounds settle it.
  for (int round = 0; round < 4; ++round) {
    verticalScrollBar()->setValue(verticalScrollBar()->maximum());
    const int before = verticalScrollBar()->maximum();
    layoutVisible();
    if (verticalScrollBar()->maximum() == before) break;
  }
  verticalScrollBar()->setValue(verticalScrollBar()->maximum());
  updatePill();
  viewport()->update();
}

TranscriptView::Anchor TranscriptView::anchor() const {
  if (atEnd() || m_messages.empty()) return {};
  const int index = std::max(0, messageAtY(verticalScrollBar()->value()));
  return {m_messages[static_cast<std::size_t>(index)]->content().id, verticalScrollBar()->value() - m_tops[static_cast<std::size_t>(index)]};
}

void TranscriptView::restoreAnchor(const Anchor& anchor) {
  const int index = indexOf(anchor.message);
  if (anchor.message == 0 || index < 0) {
    scrollToEnd();
    return;
  }
  for (int round = 0; round < 3; ++round) {
    verticalScrollBar()->setValue(qRound(m_tops[static_cast<std::size_t>(index)] + anchor.offset));
    layoutVisible();
  }
  updatePill();
}

int TranscriptView::messageAtY(qreal y) const {
  if (m_messages.empty()) return -1;
  const auto it = std::upper_bound(m_tops.begin(), m_tops.end() - 1, y);
  return std::max(0, static_cast<int>(it - m_tops.begin()) - 1);
}

void TranscriptView::resizeEvent(QResizeEvent* event) {
  QAbstractScrollArea::resizeEvent(event);
  const Anchor here = anchor();
  relayout(true);
  restoreAnchor(here);
}

void TranscriptView::scrollContentsBy(int, int) {
  layoutVisible();
  updatePill();
  viewport()->update();
  Q_EMIT scrolled();
}

void TranscriptView::updateAnimation() {
  const bool busy = std::any_of(m_messages.begin(), m_messages.end(), [](const auto& m) {
    return m->content().status == MessageStatus::kWaiting || m->content().status == MessageStatus::kStreaming;
  });
  if (busy && m_animationTimer == 0) {
    m_animationTimer = startTimer(kAnimationIntervalMs);
  } else if (!busy && m_animationTimer != 0) {
    killTimer(m_animationTimer);
    m_animationTimer = 0;
  }
}

void TranscriptView::timerEvent(QTimerEvent* event) {
  if (event->timerId() != m_animationTimer) return QAbstractScrollArea::timerEvent(event);
  ++m_animationStep;
  if (!isVisible()) return;
  for (std::size_t i = m_messages.size(); i-- > 0;) {
    if (m_messages[i]->content().phase.isEmpty()) continue;
    viewport()->update(QRectF(0, m_tops[i] + contentTop(), viewport()->width(), m_messages[i]->height()).toAlignedRect());
    break;
  }
}

// ---- selection ---------------------------------------------------------------------------------------------------------------------

std::optional<TranscriptView::TextPosition> TranscriptView::textPositionAt(const QPointF& viewportPoint) const {
  if (m_messages.empty()) return std::nullopt;
  const QPointF point = toContent(viewportPoint);
  const int index = messageAtY(point.y());
  const MessageRows& message = *m_messages[static_cast<std::size_t>(index)];
  const qreal y = point.y() - m_tops[static_cast<std::size_t>(index)];
  int best = -1;
  for (std::size_t r = 0; r < message.rows().size(); ++r) {
    const Row& row = message.rows()[r];
    if (row.kind != RowKind::kText || !row.document) continue;
    if (best < 0 || row.top <= y) best = static_cast<int>(r);
  }
  if (best < 0) return std::nullopt;
  const Row& row = message.rows()[static_cast<std::size_t>(best)];
  const QRectF rect = message.textRect(row);
  return TextPosition{index, best, row.document->positionAt(QPointF(point.x() - rect.left(), y - rect.top()))};
}

std::pair<TranscriptView::TextPosition, TranscriptView::TextPosition> TranscriptView::orderedSelection() const {
  return std::minmax(*m_selectionAnchor, *m_selectionEnd);
}

bool TranscriptView::hasSelection() const { return m_selectionAnchor && m_selectionEnd && *m_selectionAnchor != *m_selectionEnd; }

QString TranscriptView::selectedText() const {
  if (!hasSelection()) return {};
  const auto [from, to] = orderedSelection();
  QString text;
  for (int m = from.message; m <= to.message && m < messageCount(); ++m) {
    const MessageRows& message = *m_messages[static_cast<std::size_t>(m)];
    if (m != from.message && !text.isEmpty()) text += QLatin1String("\n\n");
    bool firstRow = true;
    for (int r = 0; r < static_cast<int>(message.rows().size()); ++r) {
      const Row& row = message.rows()[static_cast<std::size_t>(r)];
      if (row.kind != RowKind::kText || (m == from.message && r < from.row) || (m == to.message && r > to.row)) continue;
      std::unique_ptr<BlockDocument> made;
      const BlockDocument* document = row.document.get();
      if (document == nullptr) {
        made = message.makeDocument(row);
        document = made.get();
      }
      const int start = m == from.message && r == from.row ? from.position : 0;
      const int end = m == to.message && r == to.row ? to.position : document->length();
      if (!firstRow && !message.splitter().blocks()[row.block].continues) text += QLatin1Char('\n');
      firstRow = false;
      text += document->textBetween(start, end);
    }
  }
  return text;
}

void TranscriptView::selectAll() {
  if (m_messages.empty()) return;
  m_selectionAnchor = TextPosition{0, 0, 0};
  const int last = messageCount() - 1;
  m_selectionEnd = TextPosition{last, static_cast<int>(m_messages.back()->rows().size()), 0};
  viewport()->update();
}

void TranscriptView::copySelection() {
  const QString text = selectedText();
  if (text.isEmpty()) return;
  QApplication::clipboard()->setText(text);
  Q_EMIT copied();
}

// ---- pointer and keys --------------------------------------------------------------------------------------------------------------

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
  }
  return target;
}

QRect TranscriptView::actionRect(qint64 id, Action action) const {
  const int index = indexOf(id);
  if (index < 0) return {};
  for (const ActionArea& area : m_messages[static_cast<std::size_t>(index)]->actions(true)) {
    if (area.action == action) return area.rect.translated(columnLeft(), m_tops[static_cast<std::size_t>(index)] + contentTop()).toAlignedRect();
  }
  return {};
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
    case Action::kRegenerate:
    case Action::kRetry: Q_EMIT regenerateRequested(id); break;
    case Action::kStop: Q_EMIT stopRequested(id); break;
    case Action::kPreviousBranch: Q_EMIT branchRequested(id, -1); break;
    case Action::kNextBranch: Q_EMIT branchRequested(id, 1); break;
    case Action::kAttachment: Q_EMIT attachmentActivated(id, target.area.index); break;
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
    case Action::kNone: break;
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
    case Qt::Key_PageUp: bar->triggerAction(QAbstractSlider::SliderPageStepSub); return;
    case Qt::Key_PageDown:
    case Qt::Key_Space: bar->triggerAction(QAbstractSlider::SliderPageStepAdd); return;
    case Qt::Key_Home: bar->setValue(0); return;
    case Qt::Key_End: scrollToEnd(); return;
    case Qt::Key_Menu: {
      const QPoint centre = viewport()->rect().center();
      QContextMenuEvent menu(QContextMenuEvent::Keyboard, centre, viewport()->mapToGlobal(centre));
      contextMenuEvent(&menu);
      return;
    }
    default: QAbstractScrollArea::keyPressEvent(event); return;
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
    if (content.speaker == Speaker::kAssistant && !busy) {
      menu.addAction(tr("&Regenerate"), this, [this, index] { trigger({index, {Action::kRegenerate, {}, {}, 0}, {}, false}); });
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
    const bool iconOnly = target.area.action == Action::kCopy || target.area.action == Action::kRegenerate ||
                          target.area.action == Action::kPreviousBranch || target.area.action == Action::kNextBranch;
    if (iconOnly || target.area.action == Action::kAttachment) {
      QToolTip::showText(help->globalPos(), target.area.label.toHtmlEscaped(), viewport());
    } else if (target.link.isValid()) {
      QToolTip::showText(help->globalPos(), target.link.toString(QUrl::FullyEncoded).toHtmlEscaped(), viewport());
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
