#include "ui/chat_view/transcript_view.h"

#include <QAccessible>
#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QPaintEvent>
#include <QPainter>
#include <QPushButton>
#include <QResizeEvent>
#include <QScrollBar>
#include <QTimerEvent>
#include <QToolTip>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>
#include <memory>

#include "app/words/error_text.h"
#include "ui/chat_view/answer_figures.h"
#include "ui/chat_view/message_note.h"
#include "ui/chat_view/place_links.h"
#include "ui/chat_view/transcript_accessible.h"
#include "ui/chat_view/transcript_menu.h"
#include "ui/chat_view/transcript_painter.h"
#include "ui/theme/icons.h"
#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {

constexpr int kColumnUnits = 760;  // a line longer than this is hard to read
constexpr int kAnimationIntervalMs = 100;
constexpr int kLowUnits = 200;  // four lines or so

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
    m_layout.invalidate();
    m_layout.setWidth(columnWidth());
    updateScrollBar();
    layoutVisible();
    restoreAnchor(here);
    viewport()->update();
  });
}

QSize TranscriptView::minimumSizeHint() const { return QSize(theme().px(240), theme().px(80)); }

// ---- messages ----------------------------------------------------------------------------------------------------------------------

void TranscriptView::setMessages(std::vector<MessageContent> messages) {
  m_selection.clear();
  m_marks.clear();
  m_openables.clear();
  m_hover = Target();
  m_pressed.reset();
  m_focusIndex = -1;
  m_layout.set(std::move(messages));
  m_layout.setWidth(columnWidth());
  updateScrollBar();
  scrollToEnd();
  updateAnimation();
  m_find.look(m_layout, m_find.words(), 0);
  Q_EMIT foundChanged(m_find.index(), m_find.count());
}

void TranscriptView::appendMessage(MessageContent message) {
  const bool wasAtEnd = atEnd();
  m_layout.append(std::move(message));
  afterChange(wasAtEnd);
  lookAgain(messageCount() - 1);
  updateAnimation();
  QAccessibleEvent event(this, QAccessible::ObjectReorder);
  QAccessible::updateAccessibility(&event);
}

void TranscriptView::updateMessage(const MessageContent& message) {
  const bool wasAtEnd = atEnd();
  if (!m_layout.update(message)) return;
  m_hover = Target();
  afterChange(wasAtEnd);
  lookAgain(m_layout.indexOf(message.id));
  updateAnimation();
}

template <typename Change>
void TranscriptView::change(qint64 id, Change&& change) {
  const int index = m_layout.indexOf(id);
  if (index < 0) return;
  const bool wasAtEnd = atEnd();
  change(m_layout.at(index));
  afterChange(wasAtEnd);
  lookAgain(index);
}

void TranscriptView::appendText(qint64 id, const QString& delta) {
  if (!delta.isEmpty()) change(id, [&](MessageRows& message) { message.append(delta, RowKind::kText); });
}

void TranscriptView::appendThought(qint64 id, const QString& delta) {
  if (!delta.isEmpty()) change(id, [&](MessageRows& message) { message.append(delta, RowKind::kThoughtText); });
}

bool TranscriptView::thoughtOpen(qint64 id) const {
  const int index = m_layout.indexOf(id);
  return index >= 0 && m_layout.at(index).open(Fold::kThought);
}

void TranscriptView::setPhase(qint64 id, const QString& phase, double share) {
  change(id, [&](MessageRows& message) { message.setPhase(phase, share); });
  updateAnimation();
}

void TranscriptView::setMarks(qint64 id, std::vector<TextMark> marks) {
  const int index = m_layout.indexOf(id);
  if (index < 0 || messageAt(index).marks == marks) return;
  change(id, [&](MessageRows& message) { message.setMarks(std::move(marks)); });
}

// ---- where things are --------------------------------------------------------------------------------------------------------------

qreal TranscriptView::columnWidth() const {
  // A column of a comparison is narrow: its text needs the room.
  const qreal margin = theme().space(viewport()->width() < theme().px(420) ? Space::kMedium : Space::kHuge);
  return std::max<qreal>(120, std::min<qreal>(theme().px(kColumnUnits), viewport()->width() - 2 * margin));
}

QPointF TranscriptView::origin() const {
  return QPointF(std::floor((viewport()->width() - columnWidth()) / 2), -verticalScrollBar()->value());
}

QRect TranscriptView::actionRect(qint64 id, Action action) const {
  const QRectF rect = ui::actionRect(m_layout, id, action);
  return rect.isEmpty() ? QRect() : rect.translated(origin()).toAlignedRect();
}

QRect TranscriptView::markRect(qint64 id, int mark) const {
  const QRectF rect = ui::markRect(m_layout, id, mark);
  return rect.isEmpty() ? QRect() : rect.translated(origin()).toAlignedRect();
}

void TranscriptView::afterChange(bool wasAtEnd) {
  m_layout.place();
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
  const int page = viewport()->height();
  verticalScrollBar()->setPageStep(std::max(1, page));
  verticalScrollBar()->setRange(0, std::max(0, static_cast<int>(std::ceil(m_layout.height())) - page));
}

// Measures what is in view. Heights that turn out different above the top of the viewport move the scroll bar along, so that what the
// reader looks at stays where it is.
void TranscriptView::layoutVisible() {
  if (m_layingOut || messageCount() == 0) return;
  m_layingOut = true;
  const qreal page = viewport()->height();
  for (int round = 0; round < 4; ++round) {
    const bool end = atEnd();
    const TranscriptLayout::Measured measured = m_layout.measure(verticalScrollBar()->value(), page);
    if (!measured.changed) break;
    updateScrollBar();
    if (end) {
      verticalScrollBar()->setValue(verticalScrollBar()->maximum());
    } else if (measured.shift != 0) {
      verticalScrollBar()->setValue(verticalScrollBar()->value() + qRound(measured.shift));
    }
  }
  m_layout.release(verticalScrollBar()->value(), page);
  m_layingOut = false;
}

void TranscriptView::updatePill() {
  const bool show = !atEnd() && !endInView() && !m_layout.bare();
  if (show) {
    // If little is shown, it stands aside, without its words.
    const bool low = viewport()->height() < theme().px(kLowUnits);
    m_pill->setText(low ? QString() : tr("Jump to latest"));
    m_pill->setToolTip(low ? tr("Jump to latest") : QString());
    m_pill->adjustSize();
    const int margin = theme().space(Space::kMedium);
    m_pill->move(low ? viewport()->width() - m_pill->width() - margin : (viewport()->width() - m_pill->width()) / 2,
                 viewport()->height() - m_pill->height() - margin);
    m_pill->raise();
  }
  m_pill->setVisible(show);
}

bool TranscriptView::atEnd() const { return verticalScrollBar()->value() >= verticalScrollBar()->maximum() - theme().px(8); }

// True if the rows under the last message are in view: the button that leads there would cover them.
bool TranscriptView::endInView() const {
  if (messageCount() == 0) return true;
  const MessageRows& last = m_layout.at(messageCount() - 1);
  const auto foot = std::find_if(last.rows().begin(), last.rows().end(), [](const Row& row) {
    return row.kind == RowKind::kError || row.kind == RowKind::kQuotes || row.kind == RowKind::kNote || row.kind == RowKind::kFooter ||
           row.kind == RowKind::kComparisons;
  });
  if (foot == last.rows().end()) return false;
  return m_layout.top(messageCount() - 1) + last.rowRect(*foot).top() < verticalScrollBar()->value() + viewport()->height();
}

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
  const int value = verticalScrollBar()->value();
  if (m_layout.bare() && value == 0) return {messageAt(0).id, -m_layout.top(0)};
  if (atEnd() || messageCount() == 0) return {};
  const int index = std::max(0, m_layout.messageAt(value));
  return {messageAt(index).id, value - m_layout.top(index)};
}

void TranscriptView::restoreAnchor(const Anchor& anchor) {
  const int index = m_layout.indexOf(anchor.message);
  if (anchor.message == 0 || index < 0) {
    scrollToEnd();
    return;
  }
  for (int round = 0; round < 3; ++round) {
    verticalScrollBar()->setValue(qRound(m_layout.top(index) + anchor.offset));
    layoutVisible();
  }
  updatePill();
}

void TranscriptView::resizeEvent(QResizeEvent* event) {
  QAbstractScrollArea::resizeEvent(event);
  const Anchor here = anchor();
  m_layout.setWidth(columnWidth());
  updateScrollBar();
  layoutVisible();
  restoreAnchor(here);
  viewport()->update();
}

void TranscriptView::scrollContentsBy(int, int) {
  layoutVisible();
  updatePill();
  viewport()->update();
  Q_EMIT scrolled();
}

void TranscriptView::paintEvent(QPaintEvent* event) {
  QPainter painter(viewport());
  painter.fillRect(event->rect(), theme().colors().window);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.translate(origin());
  const TranscriptLook look{m_selection, m_find, m_marks, m_openables, m_hover, hasFocus(), m_focusIndex, m_animationStep};
  TranscriptPainter(painter, m_layout, look).paint(QRectF(event->rect()).translated(-origin()));
}

void TranscriptView::updateAnimation() {
  bool busy = false;
  for (int i = 0; i < messageCount(); ++i)
    busy = busy || messageAt(i).status == MessageStatus::kWaiting || messageAt(i).status == MessageStatus::kStreaming;
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
  for (int i = messageCount() - 1; i >= 0; --i) {
    if (messageAt(i).phase.isEmpty() && !thinks(messageAt(i))) continue;
    QRectF dirty = m_layout.rect(i).translated(origin());
    dirty.setLeft(0);
    dirty.setWidth(viewport()->width());
    viewport()->update(dirty.toAlignedRect());
    break;
  }
}

// ---- pointer -----------------------------------------------------------------------------------------------------------------------

void TranscriptView::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  const QPointF point = event->position() - origin();
  const Target target = targetAt(m_layout, point);
  if (target.clickable()) {
    m_pressed = target;
    m_lastPressed = point;
  } else {
    m_selection.begin(textPositionAt(m_layout, point));
    m_selecting = m_selection.begun();
  }
  viewport()->update();
}

void TranscriptView::mouseMoveEvent(QMouseEvent* event) {
  const QPointF point = event->position() - origin();
  if (m_selecting) {
    m_selection.extend(textPositionAt(m_layout, point));
    if (event->pos().y() < 0) verticalScrollBar()->setValue(verticalScrollBar()->value() - theme().px(20));
    if (event->pos().y() > viewport()->height()) verticalScrollBar()->setValue(verticalScrollBar()->value() + theme().px(20));
    viewport()->update();
    return;
  }
  if (m_pressed && m_pressed->area.action == Action::kSideways) {
    // The bar stands for all of the table.
    const Row& row = m_layout.at(m_pressed->message).rows()[static_cast<std::size_t>(m_pressed->area.index)];
    const qreal whole = (m_layout.width() + row.overflow) / m_layout.width();
    scrollSideways(m_lastPressed, (point.x() - m_lastPressed.x()) * whole);
    m_lastPressed.setX(point.x());
    return;
  }
  const Target target = targetAt(m_layout, point);
  viewport()->setCursor(target.clickable() ? Qt::PointingHandCursor : target.text ? Qt::IBeamCursor : Qt::ArrowCursor);
  if (target.sameThing(m_hover)) return;
  m_hover = target;
  viewport()->update();
}

void TranscriptView::mouseReleaseEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  m_selecting = false;
  const std::optional<Target> pressed = std::exchange(m_pressed, std::nullopt);
  if (!pressed) return;
  if (targetAt(m_layout, event->position() - origin()).sameThing(*pressed)) {
    if (pressed->link.isValid()) {
      Q_EMIT linkActivated(messageAt(pressed->message).id, pressed->link);
    } else {
      trigger(pressed->message, pressed->area.action, pressed->area.index);
    }
  }
  viewport()->update();
}

void TranscriptView::mouseDoubleClickEvent(QMouseEvent* event) {
  const QPointF point = event->position() - origin();
  const std::optional<TextPosition> position = textPositionAt(m_layout, point);
  if (!position || targetAt(m_layout, point).area.action != Action::kNone) return mousePressEvent(event);
  m_selection.selectWord(m_layout, *position);
  viewport()->update();
}

bool TranscriptView::viewportEvent(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    const Target target = targetAt(m_layout, QPointF(help->pos()) - origin());
    if ((target.area.hasGlyph && target.area.word != target.area.label) || target.area.action == Action::kAttachment) {
      QToolTip::showText(help->globalPos(), target.area.label.toHtmlEscaped(), viewport());
    } else if (target.area.action == Action::kFigures) {
      QToolTip::showText(help->globalPos(), figuresHelp(messageAt(target.message)).toHtmlEscaped(), viewport());
    } else if (target.link.isValid()) {
      QToolTip::showText(help->globalPos(), linkText(target.link).toHtmlEscaped(), viewport());
    } else if (target.message >= 0 && target.mark >= 0) {
      const MessageContent& content = messageAt(target.message);
      QToolTip::showText(help->globalPos(), content.marks[static_cast<std::size_t>(target.mark)].note.toHtmlEscaped(), viewport(),
                         markRect(content.id, target.mark));
    } else if (!target.formula.isEmpty()) {
      QToolTip::showText(help->globalPos(), QString(target.formula).replace(QChar(QChar::LineSeparator), QLatin1Char('\n')).toHtmlEscaped(),
                         viewport());
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

void TranscriptView::contextMenuEvent(QContextMenuEvent* event) {
  const bool keyboard = event->reason() == QContextMenuEvent::Keyboard;
  const Target target = targetAt(m_layout, QPointF(event->pos()) - origin());
  const int message = keyboard && m_focusIndex >= 0 ? m_focusIndex : target.message;
  TranscriptMenuChoices choices;
  if (!m_selection.isEmpty()) choices.copySelection = [this] { copySelection(); };
  choices.selectAll = [this] { selectAll(); };
  choices.act = [this, message](Action action, int index) { trigger(message, action, index); };
  if (message >= 0) choices.areas = actionsOf(m_layout.at(message), true);
  if (message >= 0) choices.thoughtOpen = m_layout.at(message).open(Fold::kThought);
  if (message >= 0 && messageAt(message).speaker == Speaker::kAssistant) {
    const std::vector<SourceBlock>& blocks = m_layout.at(message).splitter().blocks();
    for (int block = 0; block < static_cast<int>(blocks.size()); ++block) {
      const SourceBlock& each = blocks[static_cast<std::size_t>(block)];
      const auto number = static_cast<std::size_t>(block);
      if (each.code && !each.continues) choices.code.push_back({listingIndex(number, -1), each.language});
      if (each.code) continue;
      const int listings = static_cast<int>(listingsIn(m_layout.at(message).splitter().source(each)).size());
      for (int i = 0; i < listings; ++i) choices.code.push_back({listingIndex(number, i), {}});
    }
  }
  const std::optional<Openable> openable = keyboard ? m_openables.present() : std::nullopt;
  QUrl link = !keyboard ? target.link : openable ? openable->link : QUrl();
  if (leadsToPlace(link)) link.clear();  // no address that anyone else could open
  const std::unique_ptr<QMenu> menu(newTranscriptMenu(message >= 0 ? &messageAt(message) : nullptr, link, choices, this));
  menu->exec(keyboard ? viewport()->mapToGlobal(viewport()->rect().center()) : event->globalPos());
}

void TranscriptView::trigger(int index, Action action, int part) {
  if (index < 0 || index >= messageCount()) return;
  const MessageRows& message = m_layout.at(index);
  const MessageContent& content = message.content();
  const qint64 id = content.id;
  switch (action) {
    case Action::kCopy: copy(content.text); break;
    case Action::kCopyCode: copy(codeOf(message, part)); break;
    case Action::kEdit: Q_EMIT editRequested(id); break;
    case Action::kRegenerate:
    case Action::kRetry: Q_EMIT regenerateRequested(id); break;
    case Action::kContinue: Q_EMIT continueRequested(id); break;
    case Action::kReadAgain: Q_EMIT readAgainRequested(id); break;
    case Action::kReadAll: Q_EMIT readAllRequested(id); break;
    case Action::kFindFile: Q_EMIT findFileRequested(id); break;
    case Action::kAnswerNow: Q_EMIT answerNowRequested(id); break;
    case Action::kNewChat: Q_EMIT newChatRequested(id); break;
    case Action::kAnswerAlone: Q_EMIT answerAloneRequested(id); break;
    case Action::kKeptMap: Q_EMIT keptMapRequested(id); break;
    case Action::kFigures: Q_EMIT figuresRequested(id); break;
    case Action::kStop: Q_EMIT stopRequested(id); break;
    case Action::kCheck: Q_EMIT checkRequested(id); break;
    case Action::kCite: Q_EMIT citeRequested(id); break;
    case Action::kQuote: Q_EMIT quoteActivated(id, part); break;
    case Action::kComparison: Q_EMIT comparisonActivated(id, part); break;
    case Action::kPreviousBranch: Q_EMIT branchRequested(id, -1); break;
    case Action::kNextBranch: Q_EMIT branchRequested(id, 1); break;
    case Action::kAttachment: Q_EMIT attachmentActivated(id, part); break;
    case Action::kThought: {
      const bool wasAtEnd = atEnd();
      m_selection.clear();  // it names rows
      m_layout.toggle(index, Fold::kThought);
      lookAgain(index);  // likewise
      afterChange(wasAtEnd && content.status == MessageStatus::kStreaming);
      break;
    }
    case Action::kErrorDetails: {
      const bool wasAtEnd = atEnd();
      m_layout.toggle(index, Fold::kErrorDetails);
      afterChange(wasAtEnd);
      break;
    }
    case Action::kErrorCopy: {
      const app::ErrorText text = app::describeError(*content.error);
      copy(text.cause + QLatin1Char('\n') + text.remedy + QLatin1Char('\n') + text.details);
      break;
    }
    case Action::kSideways:  // is dragged
    case Action::kNone: break;
  }
}

void TranscriptView::copy(const QString& text) {
  QApplication::clipboard()->setText(text);
  Q_EMIT copied();
}

// ---- wide tables -------------------------------------------------------------------------------------------------------------------

bool TranscriptView::scrollSideways(const QPointF& point, qreal by) {
  const int index = m_layout.messageAt(point.y());
  if (index < 0) return false;
  MessageRows& message = m_layout.at(index);
  const QPointF local(point.x(), point.y() - m_layout.top(index));
  for (std::size_t row = 0; row < message.rows().size(); ++row) {
    if (message.rows()[row].overflow <= 0 || !message.rowRect(message.rows()[row]).contains(local)) continue;
    message.scrollSideways(row, by);
    viewport()->update();
    return true;
  }
  return false;
}

void TranscriptView::wheelEvent(QWheelEvent* event) {
  const QPoint turned = event->pixelDelta().isNull() ? event->angleDelta() / 2 : event->pixelDelta();
  const bool sideways = (event->modifiers() & Qt::ShiftModifier) || std::abs(turned.x()) > std::abs(turned.y());
  const int by = turned.x() != 0 ? turned.x() : turned.y();
  if (sideways && scrollSideways(event->position() - origin(), -by)) return event->accept();
  QAbstractScrollArea::wheelEvent(event);
}

void TranscriptView::selectAll() {
  m_selection.selectAll(m_layout);
  viewport()->update();
}

void TranscriptView::copySelection() {
  if (const QString text = selectedText(); !text.isEmpty()) copy(text);
}

}  // namespace winnow::ui
