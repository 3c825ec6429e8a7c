#include "ui/kept_map/token_text_view.h"

#include <QAccessible>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QStringDecoder>
#include <algorithm>

#include "app/words/display_text.h"
#include "ui/kept_map/kept_map_model.h"
#include "ui/theme/ramp.h"
#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {

qreal lineHeight() { return QFontMetricsF(theme().font(TextRole::kBody)).height() + theme().px(10); }

// Room for a line's number or time, and for what stands between it and the text.
qreal marginWidth(const QString& longest) {
  const QFontMetricsF metrics(theme().font(TextRole::kCaption));
  return std::max(metrics.horizontalAdvance(QStringLiteral("10")), metrics.horizontalAdvance(longest)) + theme().px(8);
}

}  // namespace

TokenTextView::TokenTextView(KeptMapModel& model, QWidget* parent) : QAbstractScrollArea(parent), m_model(model) {
  setFrameShape(QFrame::NoFrame);
  setFocusPolicy(Qt::StrongFocus);
  viewport()->setMouseTracking(true);
  viewport()->setBackgroundRole(QPalette::Window);
  setAccessibleName(tr("Tokens of the text"));
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  connect(&m_model, &KeptMapModel::mapChanged, this, &TokenTextView::layOut);
  connect(&m_model, &KeptMapModel::selectionChanged, this, &TokenTextView::onSelection);
  connect(&m_model, &KeptMapModel::sharesChanged, this, [this] { viewport()->update(); });
  connect(&theme(), &Theme::changed, this, &TokenTextView::layOut);
}

QSize TokenTextView::minimumSizeHint() const { return QSize(theme().px(140), theme().px(90)); }

std::vector<QString> TokenTextView::tokenTexts() const {
  std::vector<QString> texts;
  QStringDecoder decoder(QStringDecoder::Utf8);
  for (const int token : m_tokens) {
    const QString text = decoder(m_model.map().text(token));
    texts.push_back(app::displayText(text));
  }
  return texts;
}

bool TokenTextView::isDocument() const {
  return !m_model.isEmpty() && m_model.parts()[static_cast<std::size_t>(m_model.part())].kind == PartKind::kLines;
}

// Another layer of the same text moves nothing.
void TokenTextView::onSelection() {
  const PromptPart& part = m_model.parts()[static_cast<std::size_t>(m_model.part())];
  if (m_shown != std::pair(part.media, isDocument() ? -1 : m_model.part())) return layOut();
  if (isDocument()) {
    const auto first =
        std::find_if(m_pieces.begin(), m_pieces.end(), [&part](const Piece& piece) { return piece.token == part.tokens.front(); });
    const auto last =
        std::find_if(m_pieces.begin(), m_pieces.end(), [&part](const Piece& piece) { return piece.token == part.tokens.back(); });
    const QRect seen(0, verticalScrollBar()->value(), viewport()->width(), viewport()->height());
    if (last != m_pieces.end() && (last->rect.bottom() > seen.bottom() || first->rect.top() < seen.top()))
      verticalScrollBar()->setValue(qRound(first->rect.top()));
  }
  viewport()->update();
}

void TokenTextView::layOut() {
  m_tokens.clear();
  m_shown.reset();
  if (!m_model.isEmpty()) {
    const PromptPart& part = m_model.parts()[static_cast<std::size_t>(m_model.part())];
    m_shown = std::pair(part.media, isDocument() ? -1 : m_model.part());
    if (isDocument()) {
      for (const PromptPart& other : m_model.parts()) {
        if (other.kind == PartKind::kLines && other.media == part.media)
          m_tokens.insert(m_tokens.end(), other.tokens.begin(), other.tokens.end());
      }
    } else if (!part.visual()) {
      m_tokens = part.tokens;
    }
  }
  place();
  find(m_wanted);
  if (isDocument()) onSelection();
}

void TokenTextView::place() {
  m_pieces.clear();
  if (!m_tokens.empty()) {
    const std::vector<QString> texts = tokenTexts();
    const QFontMetricsF metrics(theme().font(TextRole::kBody));
    const qreal pad = theme().px(3);
    const qreal line = lineHeight();
    const int lastLine = m_model.map().origins()[static_cast<std::size_t>(m_tokens.back())].frame;
    const qreal left =
        isDocument() ? marginWidth(lineName(m_model.mediaOf(m_model.parts()[static_cast<std::size_t>(m_model.part())]), lastLine)) : 0.0;
    const qreal room = std::max<qreal>(theme().px(60), viewport()->width() - left);
    qreal x = 0, y = 0;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const bool breaks = texts[i].contains(QLatin1Char('\n'));
      QString shown = texts[i];
      // A word's token begins with its space: it becomes the gap, and the pieces of one word stand together.
      if (shown.startsWith(QLatin1Char(' ')) && shown.trimmed().size() > 0) {
        shown.remove(0, 1);
        if (x > 0) x += theme().px(6);
      }
      shown.replace(QLatin1Char('\n'), QChar(u'⏎')).replace(QLatin1Char('\t'), QChar(u'⇥'));
      // Tokens without a whole character still have a place that can be pointed at.
      if (shown.trimmed().isEmpty()) shown = shown.isEmpty() ? QStringLiteral("·") : QStringLiteral("␣");
      shown = metrics.elidedText(shown, Qt::ElideRight, room - 2 * pad);
      const qreal wide = metrics.horizontalAdvance(shown) + 2 * pad;
      if (x > 0 && x + wide > room) {
        x = 0;
        y += line;
      }
      m_pieces.push_back({m_tokens[i], shown, QRectF(left + x, y, wide, line - theme().px(5))});
      x += wide + 1;
      if (breaks) {
        x = 0;
        y += line;
      }
    }
    m_height = y + line;
    m_cursor = std::clamp(m_cursor, 0, std::max(0, static_cast<int>(m_pieces.size()) - 1));
  }
  verticalScrollBar()->setRange(0, std::max(0, qRound(m_pieces.empty() ? 0.0 : m_height) - viewport()->height()));
  verticalScrollBar()->setPageStep(viewport()->height());
  verticalScrollBar()->setSingleStep(qRound(lineHeight()));
  viewport()->update();
}

void TokenTextView::find(const QString& words) {
  m_wanted = words;
  m_foundAt = 0;
  const int line = isDocument() ? askedLine(words) : -1;
  if (line >= 0) {
    std::vector<TokenOrigin> origins;
    for (const int token : m_tokens) origins.push_back(m_model.map().origins()[static_cast<std::size_t>(token)]);
    m_found = findLine(origins, line);
  } else {
    m_found = findWords(tokenTexts(), words);
  }
  const auto next = std::find_if(m_found.begin(), m_found.end(), [this](const TokenRange& range) { return range.last >= m_cursor; });
  if (next != m_found.end()) m_foundAt = static_cast<int>(next - m_found.begin());
  stepFound(0);
}

void TokenTextView::stepFound(int by) {
  if (!m_found.empty()) {
    const int count = foundCount();
    m_foundAt = (m_foundAt + by % count + count) % count;
    scrollTo(m_found[static_cast<std::size_t>(m_foundAt)].first);
  }
  viewport()->update();
  Q_EMIT foundChanged();
}

void TokenTextView::scrollTo(int index) {
  const QRectF& rect = m_pieces[static_cast<std::size_t>(index)].rect;
  QScrollBar* bar = verticalScrollBar();
  if (rect.top() < bar->value() || rect.bottom() > bar->value() + viewport()->height())
    bar->setValue(qRound(rect.center().y()) - viewport()->height() / 2);
}

// The number or the time of each line where it begins, and a bar beside the chosen part.
void TokenTextView::paintMargin(QPainter& painter, const QRect& seen) const {
  const Colors& c = theme().colors();
  const PromptPart& part = m_model.parts()[static_cast<std::size_t>(m_model.part())];
  const qreal width = m_pieces.front().rect.left() - theme().px(8);
  painter.setFont(theme().font(TextRole::kCaption));
  int before = -1;
  for (const Piece& piece : m_pieces) {
    const int line = m_model.map().origins()[static_cast<std::size_t>(piece.token)].frame;
    const bool begins = line != before;
    before = line;
    if (piece.rect.bottom() < seen.top() || piece.rect.top() > seen.bottom()) continue;
    if (piece.token >= part.tokens.front() && piece.token <= part.tokens.back())
      painter.fillRect(QRectF(width + theme().px(3), piece.rect.top(), theme().px(2), lineHeight()), c.accent);
    if (!begins) continue;
    painter.setPen(c.mutedText);
    painter.drawText(QRectF(0, piece.rect.top(), width, piece.rect.height()), Qt::AlignRight | Qt::AlignVCenter,
                     lineName(m_model.mediaOf(part), line));
  }
}

void TokenTextView::paintEvent(QPaintEvent*) {
  QPainter painter(viewport());
  painter.setRenderHint(QPainter::Antialiasing);
  if (m_pieces.empty()) return;
  painter.translate(0, -verticalScrollBar()->value());
  const QRect seen(0, verticalScrollBar()->value(), viewport()->width(), viewport()->height());
  if (isDocument()) paintMargin(painter, seen);
  for (std::size_t i = 0; i < m_pieces.size(); ++i) {
    if (m_pieces[i].rect.bottom() >= seen.top() && m_pieces[i].rect.top() <= seen.bottom()) paintPiece(painter, i);
  }
}

void TokenTextView::paintPiece(QPainter& painter, std::size_t index) const {
  const Colors& c = theme().colors();
  const Piece& piece = m_pieces[index];
  const double kept = m_model.kept(piece.token);
  const bool shaded = isDocument() && !m_model.isDifference() && kept > 0.0;
  QColor ground = kept > 0.0 ? c.accentSoft : c.raised;
  bool dropped = kept <= 0.0;
  if (m_model.isDifference()) {
    const KeptBy by = m_model.keptBy(piece.token);
    ground = by == KeptBy::kFirst    ? differenceColor(-1)
             : by == KeptBy::kSecond ? differenceColor(1)
             : by == KeptBy::kBoth   ? c.accentSoft
                                     : c.raised;
    dropped = by == KeptBy::kNone;
  } else if (shaded) {
    ground = shareColor(kept);
  }
  const int taken = m_model.isDifference() ? 0 : m_model.merged(piece.token);
  painter.setPen(Qt::NoPen);
  painter.setBrush(ground);
  painter.drawRoundedRect(piece.rect, theme().px(3), theme().px(3));
  if (taken > 0) {
    QColor hatch = c.accent;
    hatch.setAlpha(120);
    painter.setBrush(QBrush(hatch, Qt::BDiagPattern));
    painter.drawRoundedRect(piece.rect, theme().px(3), theme().px(3));
  }
  // Kept by some heads only: a bar as long as their share.
  if (!m_model.isDifference() && !shaded && kept > 0.0 && kept < 1.0) {
    painter.setBrush(c.accent);
    painter.drawRect(QRectF(piece.rect.left(), piece.rect.bottom() - theme().px(2), piece.rect.width() * kept, theme().px(2)));
  }
  QFont font = theme().font(TextRole::kBody);
  font.setStrikeOut(dropped);
  painter.setFont(font);
  const bool only = m_model.isDifference() && (ground == differenceColor(-1) || ground == differenceColor(1));
  painter.setPen(only || shaded ? inkOn(ground) : dropped ? c.mutedText : c.text);
  painter.drawText(piece.rect, Qt::AlignCenter, piece.text);
  const auto place = static_cast<int>(index);
  const auto found = std::find_if(m_found.begin(), m_found.end(),
                                  [place](const TokenRange& range) { return range.first <= place && place <= range.last; });
  const bool pointed = hasFocus() && place == m_cursor;
  if (found == m_found.end() && !pointed) return;
  const bool present = found != m_found.end() && found - m_found.begin() == m_foundAt;
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(pointed || present ? c.accent : c.warning, pointed || present ? 2 : 1.2));
  painter.drawRoundedRect(piece.rect.adjusted(1, 1, -1, -1), theme().px(3), theme().px(3));
}

int TokenTextView::pieceAt(const QPointF& point) const {
  const QPointF content = point + QPointF(0, verticalScrollBar()->value());
  const auto found =
      std::find_if(m_pieces.begin(), m_pieces.end(), [&content](const Piece& piece) { return piece.rect.contains(content); });
  return found != m_pieces.end() ? static_cast<int>(found - m_pieces.begin()) : -1;
}

void TokenTextView::point(int index) {
  if (m_pieces.empty()) return;
  m_cursor = std::clamp(index, 0, static_cast<int>(m_pieces.size()) - 1);
  const Piece& piece = m_pieces[static_cast<std::size_t>(m_cursor)];
  QScrollBar* bar = verticalScrollBar();
  if (piece.rect.top() < bar->value()) bar->setValue(qRound(piece.rect.top()));
  if (piece.rect.bottom() > bar->value() + viewport()->height()) bar->setValue(qRound(piece.rect.bottom()) - viewport()->height());
  const QString text = tr("“%1” · %2").arg(piece.text, m_model.describeToken(piece.token));
  setAccessibleDescription(text);
  QAccessibleEvent changed(this, QAccessible::DescriptionChanged);
  QAccessible::updateAccessibility(&changed);
  Q_EMIT tokenPointed(text);
  viewport()->update();
}

void TokenTextView::mousePressEvent(QMouseEvent* event) {
  if (const int index = pieceAt(event->position()); index >= 0) point(index);
}

void TokenTextView::mouseMoveEvent(QMouseEvent* event) {
  const int index = pieceAt(event->position());
  if (index < 0) return Q_EMIT tokenPointed({});
  const Piece& piece = m_pieces[static_cast<std::size_t>(index)];
  Q_EMIT tokenPointed(tr("“%1” · %2").arg(piece.text, m_model.describeToken(piece.token)));
}

void TokenTextView::resizeEvent(QResizeEvent* event) {
  QAbstractScrollArea::resizeEvent(event);
  place();
}

void TokenTextView::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_Left: point(m_cursor - 1); return;
    case Qt::Key_Right: point(m_cursor + 1); return;
    case Qt::Key_PageUp: m_model.setLayer(m_model.layer() - 1); return;
    case Qt::Key_PageDown: m_model.setLayer(m_model.layer() + 1); return;
    default:
      QAbstractScrollArea::keyPressEvent(event);  // Up and Down scroll
      return;
  }
}

void TokenTextView::focusInEvent(QFocusEvent* event) {
  QAbstractScrollArea::focusInEvent(event);
  point(m_cursor);
}

void TokenTextView::focusOutEvent(QFocusEvent* event) {
  QAbstractScrollArea::focusOutEvent(event);
  Q_EMIT tokenPointed({});
  viewport()->update();
}

}  // namespace winnow::ui
