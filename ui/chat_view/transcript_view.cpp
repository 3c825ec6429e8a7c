#include "ui/chat_view/transcript_view.h"

#include <QApplication>
#include <QClipboard>
#include <QPushButton>
#include <QResizeEvent>
#include <QScrollBar>
#include <QTimerEvent>
#include <algorithm>
#include <cmath>

#include "ui/chat_view/transcript_accessible.h"
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
  // A column of a comparison is narrow: its text needs the room.
  const qreal margin = theme().space(viewport()->width() < theme().px(420) ? Space::kMedium : Space::kHuge);
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
  m_markMessage = 0;
  m_mark = -1;
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

void TranscriptView::setMarks(qint64 id, std::vector<TextMark> marks) {
  const int index = indexOf(id);
  if (index < 0 || m_messages[static_cast<std::size_t>(index)]->content().marks == marks) return;
  const bool wasAtEnd = atEnd();
  m_messages[static_cast<std::size_t>(index)]->setMarks(std::move(marks));
  afterChange(wasAtEnd);
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
  qreal y = from == 0 ? theme().space(bare() ? Space::kSmall : Space::kHuge) : m_tops[from];
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
  const bool show = !atEnd() && !m_messages.empty() && !bare();
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

bool TranscriptView::bare() const { return m_messages.size() == 1 && m_messages.front()->content().bare; }

TranscriptView::Anchor TranscriptView::anchor() const {
  if (bare() && verticalScrollBar()->value() == 0) return {m_messages.front()->content().id, -m_tops.front()};
  if (atEnd() || m_messages.empty()) return {};
  const int index = std::max(0, messageAtY(verticalScrollBar()->value()));
  return {m_messages[static_cast<std::size_t>(index)]->content().id,
          verticalScrollBar()->value() - m_tops[static_cast<std::size_t>(index)]};
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

}  // namespace winnow::ui
