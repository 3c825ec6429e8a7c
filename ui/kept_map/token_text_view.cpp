#include "ui/kept_map/token_text_view.h"

#include <QAccessible>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QStringDecoder>
#include <algorithm>

#include "ui/kept_map/kept_map_model.h"
#include "ui/theme/ramp.h"
#include "ui/theme/theme.h"
#include "ui/words/display_text.h"

namespace winnow::ui {
namespace {

qreal lineHeight() { return QFontMetricsF(theme().font(TextRole::kBody)).height() + theme().px(10); }

}  // namespace

TokenTextView::TokenTextView(KeptMapModel& model, QWidget* parent) : QAbstractScrollArea(parent), m_model(model) {
  setFrameShape(QFrame::NoFrame);
  setFocusPolicy(Qt::StrongFocus);
  viewport()->setMouseTracking(true);
  viewport()->setBackgroundRole(QPalette::Window);
  setAccessibleName(tr("Tokens of the text"));
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  connect(&m_model, &KeptMapModel::mapChanged, this, &TokenTextView::layOut);
  connect(&m_model, &KeptMapModel::selectionChanged, this, &TokenTextView::layOut);
  connect(&m_model, &KeptMapModel::sharesChanged, this, [this] { viewport()->update(); });
  connect(&theme(), &Theme::changed, this, &TokenTextView::layOut);
}

QSize TokenTextView::minimumSizeHint() const { return QSize(theme().px(140), theme().px(90)); }

std::vector<QString> TokenTextView::tokenTexts() const {
  std::vector<QString> texts;
  if (m_model.isEmpty()) return texts;
  QStringDecoder decoder(QStringDecoder::Utf8);
  for (const int token : m_model.parts()[static_cast<std::size_t>(m_model.part())].tokens) {
    const QString text = decoder(m_model.map().text(token));
    texts.push_back(displayText(text));
  }
  return texts;
}

void TokenTextView::layOut() {
  m_pieces.clear();
  const PromptPart* part = m_model.isEmpty() ? nullptr : &m_model.parts()[static_cast<std::size_t>(m_model.part())];
  if (part != nullptr && !part->visual()) {
    const std::vector<QString> texts = tokenTexts();
    const QFontMetricsF metrics(theme().font(TextRole::kBody));
    const qreal pad = theme().px(3);
    const qreal line = lineHeight();
    const qreal room = std::max<qreal>(theme().px(60), viewport()->width());
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
      m_pieces.push_back({part->tokens[i], shown, QRectF(x, y, wide, line - theme().px(5))});
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

void TokenTextView::paintEvent(QPaintEvent*) {
  QPainter painter(viewport());
  painter.setRenderHint(QPainter::Antialiasing);
  const Colors& c = theme().colors();
  painter.translate(0, -verticalScrollBar()->value());
  const QFont body = theme().font(TextRole::kBody);
  QFont struck = body;
  struck.setStrikeOut(true);
  for (std::size_t i = 0; i < m_pieces.size(); ++i) {
    const Piece& piece = m_pieces[i];
    const double kept = m_model.kept(piece.token);
    QColor ground = c.accentSoft;
    if (m_model.isDifference()) {
      const KeptBy by = m_model.keptBy(piece.token);
      ground = by == KeptBy::kFirst    ? differenceColor(-1)
               : by == KeptBy::kSecond ? differenceColor(1)
               : by == KeptBy::kBoth   ? c.accentSoft
                                       : c.raised;
      painter.setFont(by == KeptBy::kNone ? struck : body);
    } else {
      ground = kept > 0.0 ? c.accentSoft : c.raised;
      painter.setFont(kept > 0.0 ? body : struck);
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
    if (!m_model.isDifference() && kept > 0.0 && kept < 1.0) {
      painter.setBrush(c.accent);
      painter.drawRect(QRectF(piece.rect.left(), piece.rect.bottom() - theme().px(2), piece.rect.width() * kept, theme().px(2)));
    }
    const bool only = m_model.isDifference() && (ground == differenceColor(-1) || ground == differenceColor(1));
    painter.setPen(only ? inkOn(ground) : painter.font().strikeOut() ? c.mutedText : c.text);
    painter.drawText(piece.rect, Qt::AlignCenter, piece.text);
    if (hasFocus() && static_cast<int>(i) == m_cursor) {
      painter.setBrush(Qt::NoBrush);
      painter.setPen(QPen(c.accent, 2));
      painter.drawRoundedRect(piece.rect.adjusted(1, 1, -1, -1), theme().px(3), theme().px(3));
    }
  }
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
  layOut();
}

void TokenTextView::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_Left:
      point(m_cursor - 1);
      return;
    case Qt::Key_Right:
      point(m_cursor + 1);
      return;
    case Qt::Key_PageUp:
      m_model.setLayer(m_model.layer() - 1);
      return;
    case Qt::Key_PageDown:
      m_model.setLayer(m_model.layer() + 1);
      return;
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
