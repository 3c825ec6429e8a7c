#include "ui/kept_map/patch_view.h"

#include <QAccessible>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <algorithm>

#include "ui/kept_map/kept_map_model.h"
#include "ui/theme/ramp.h"
#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {

constexpr int kVeil = 214;     // of 255, over what is dropped
constexpr double kKept = 0.5;  // of the heads, from which a patch lies inside the outline

const PromptPart* shownPart(const KeptMapModel& model) {
  if (model.isEmpty()) return nullptr;
  const PromptPart& part = model.parts()[static_cast<std::size_t>(model.part())];
  return part.visual() && part.rows > 0 && part.columns > 0 ? &part : nullptr;
}

int tokenOf(const PromptPart& part, int row, int column) {
  return part.cells[static_cast<std::size_t>(row) * static_cast<std::size_t>(part.columns) + static_cast<std::size_t>(column)];
}

}  // namespace

PatchView::PatchView(KeptMapModel& model, QWidget* parent) : QWidget(parent), m_model(model) {
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  setAccessibleName(tr("Patches of the frame"));
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
  const auto changed = [this] {
    if (const PromptPart* part = shownPart(m_model)) {
      m_row = std::clamp(m_row, 0, part->rows - 1);
      m_column = std::clamp(m_column, 0, part->columns - 1);
    }
    if (hasFocus()) tell(cursorToken());
    update();
  };
  connect(&m_model, &KeptMapModel::mapChanged, this, changed);
  connect(&m_model, &KeptMapModel::sharesChanged, this, changed);
  connect(&m_model, &KeptMapModel::selectionChanged, this, changed);
}

void PatchView::setPicture(const QImage& picture) {
  m_picture = picture;
  update();
}

void PatchView::setMessage(const QString& message) {
  m_message = message;
  update();
}

QSize PatchView::sizeHint() const { return QSize(theme().px(420), theme().px(320)); }
QSize PatchView::minimumSizeHint() const { return QSize(theme().px(180), theme().px(190)); }

QRectF PatchView::pictureRect() const {
  const PromptPart* part = shownPart(m_model);
  QSizeF size = m_picture.size();
  if (m_picture.isNull() && part != nullptr) size = QSizeF(part->columns, part->rows);
  if (size.isEmpty()) return {};
  const qreal edge = 3;
  size.scale(QSizeF(std::max<qreal>(1, width() - 2 * edge), std::max<qreal>(1, height() - 2 * edge)), Qt::KeepAspectRatio);
  return QRectF(QPointF((width() - size.width()) / 2, edge), size);
}

QRectF PatchView::patchRect(int row, int column) const {
  const PromptPart* part = shownPart(m_model);
  if (part == nullptr) return {};
  const QRectF picture = pictureRect();
  const qreal width = picture.width() / part->columns;
  const qreal height = picture.height() / part->rows;
  return QRectF(picture.left() + column * width, picture.top() + row * height, width, height);
}

int PatchView::tokenAt(const QPointF& point) const {
  const PromptPart* part = shownPart(m_model);
  const QRectF picture = pictureRect();
  if (part == nullptr || !picture.contains(point)) return PromptPart::kNoToken;
  const int row = std::clamp(static_cast<int>((point.y() - picture.top()) / picture.height() * part->rows), 0, part->rows - 1);
  const int column = std::clamp(static_cast<int>((point.x() - picture.left()) / picture.width() * part->columns), 0, part->columns - 1);
  return tokenOf(*part, row, column);
}

int PatchView::cursorToken() const {
  const PromptPart* part = shownPart(m_model);
  return part != nullptr && m_row < part->rows && m_column < part->columns ? tokenOf(*part, m_row, m_column) : PromptPart::kNoToken;
}

bool PatchView::isLit(int row, int column) const {
  if (!m_model.isDifference()) return keptAt(row, column) >= kKept;
  const PromptPart* part = shownPart(m_model);
  if (part == nullptr || row < 0 || column < 0 || row >= part->rows || column >= part->columns) return false;
  const int token = tokenOf(*part, row, column);
  return token != PromptPart::kNoToken && m_model.keptBy(token) == KeptBy::kBoth;
}

double PatchView::keptAt(int row, int column) const {
  const PromptPart* part = shownPart(m_model);
  if (part == nullptr || row < 0 || column < 0 || row >= part->rows || column >= part->columns) return 0.0;
  const int token = tokenOf(*part, row, column);
  return token == PromptPart::kNoToken ? 0.0 : m_model.kept(token);
}

void PatchView::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHints(QPainter::Antialiasing | QPainter::SmoothPixmapTransform);
  const Colors& c = theme().colors();
  const PromptPart* part = shownPart(m_model);
  const QRectF picture = pictureRect();
  if (part == nullptr || picture.isEmpty()) return;
  painter.fillRect(picture, m_picture.isNull() ? shareColor(0.35) : c.raised);
  if (!m_picture.isNull()) painter.drawImage(picture, m_picture);
  painter.setRenderHint(QPainter::Antialiasing, false);
  m_model.isDifference() ? paintDifference(painter) : paintVeil(painter);
  painter.setRenderHint(QPainter::Antialiasing);

  QColor line = c.dark ? c.text : c.window;
  line.setAlpha(46);
  painter.setPen(QPen(line, 1));
  for (int row = 1; row < part->rows; ++row) painter.drawLine(patchRect(row, 0).topLeft(), patchRect(row, part->columns - 1).topRight());
  for (int column = 1; column < part->columns; ++column)
    painter.drawLine(patchRect(0, column).topLeft(), patchRect(part->rows - 1, column).bottomLeft());
  paintOutline(painter);
  if (!m_model.isDifference()) paintMarks(painter);
  if (hasFocus()) {
    const QRectF cursor = patchRect(m_row, m_column).adjusted(1.5, 1.5, -1.5, -1.5);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(c.surface, 4));
    painter.drawRect(cursor);
    painter.setPen(QPen(c.accent, 2));
    painter.drawRect(cursor);
  }
  if (!m_message.isEmpty()) {
    painter.setFont(theme().font(TextRole::kCaption));
    const QRectF room = picture.adjusted(theme().px(8), theme().px(8), -theme().px(8), -theme().px(8));
    QRectF box = painter.boundingRect(room, Qt::AlignHCenter | Qt::AlignBottom | Qt::TextWordWrap, m_message);
    painter.setPen(Qt::NoPen);
    painter.setBrush(c.surface);
    painter.drawRoundedRect(box.adjusted(-theme().px(6), -theme().px(3), theme().px(6), theme().px(3)), theme().px(4), theme().px(4));
    painter.setPen(c.text);
    painter.drawText(room, Qt::AlignHCenter | Qt::AlignBottom | Qt::TextWordWrap, m_message);
  }
}

void PatchView::paintVeil(QPainter& painter) const {
  const PromptPart* part = shownPart(m_model);
  QColor veil = theme().colors().surface;
  for (int row = 0; row < part->rows; ++row) {
    for (int column = 0; column < part->columns; ++column) {
      const double kept = keptAt(row, column);
      if (kept >= 1.0) continue;
      veil.setAlpha(static_cast<int>(kVeil * (1.0 - kept)));
      painter.fillRect(patchRect(row, column), veil);
      if (tokenOf(*part, row, column) == PromptPart::kNoToken)
        painter.fillRect(patchRect(row, column), QBrush(theme().colors().mutedText, Qt::Dense7Pattern));
    }
  }
}

// Around regions of lit patches: light on dark, to be seen on every picture.
void PatchView::paintOutline(QPainter& painter) const {
  const PromptPart* part = shownPart(m_model);
  QPainterPath edges;
  for (int row = 0; row < part->rows; ++row) {
    for (int column = 0; column < part->columns; ++column) {
      if (!isLit(row, column)) continue;
      const QRectF patch = patchRect(row, column);
      const auto edge = [&edges](const QPointF& from, const QPointF& to) {
        edges.moveTo(from);
        edges.lineTo(to);
      };
      if (!isLit(row - 1, column)) edge(patch.topLeft(), patch.topRight());
      if (!isLit(row + 1, column)) edge(patch.bottomLeft(), patch.bottomRight());
      if (!isLit(row, column - 1)) edge(patch.topLeft(), patch.bottomLeft());
      if (!isLit(row, column + 1)) edge(patch.topRight(), patch.bottomRight());
    }
  }
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(QColor(0, 0, 0, 150), 3.4, Qt::SolidLine, Qt::RoundCap));
  painter.drawPath(edges);
  painter.setPen(QPen(QColor(255, 255, 255), 1.6, Qt::SolidLine, Qt::RoundCap));
  painter.drawPath(edges);
}

void PatchView::paintMarks(QPainter& painter) const {
  const PromptPart* part = shownPart(m_model);
  const Colors& c = theme().colors();
  painter.setFont(theme().font(TextRole::kCaptionStrong));
  const QFontMetricsF metrics(painter.font());
  for (int row = 0; row < part->rows; ++row) {
    for (int column = 0; column < part->columns; ++column) {
      const int token = tokenOf(*part, row, column);
      if (token == PromptPart::kNoToken) continue;
      const QRectF patch = patchRect(row, column);
      if (const int taken = m_model.merged(token); taken > 0) {
        painter.fillRect(patch, QBrush(QColor(0, 0, 0, 120), Qt::BDiagPattern));
        painter.fillRect(patch.translated(1, 0).intersected(patch), QBrush(QColor(255, 255, 255, 150), Qt::BDiagPattern));
        const QString number = QStringLiteral("+%1").arg(taken);
        const QSizeF pill(metrics.horizontalAdvance(number) + theme().px(6), metrics.height());
        if (pill.width() <= patch.width() && pill.height() <= patch.height()) {
          const QRectF box(patch.center() - QPointF(pill.width() / 2, pill.height() / 2), pill);
          painter.setPen(Qt::NoPen);
          painter.setBrush(c.surface);
          painter.drawRoundedRect(box, theme().px(4), theme().px(4));
          painter.setPen(c.text);
          painter.drawText(box, Qt::AlignCenter, number);
        }
      }
      if (!m_model.map().isPinned(token)) continue;
      const qreal side = std::min({patch.width(), patch.height(), static_cast<qreal>(theme().px(12))});
      QPolygonF corner;
      corner << patch.topLeft() << patch.topLeft() + QPointF(side, 0) << patch.topLeft() + QPointF(0, side);
      painter.setPen(QPen(c.surface, 1));
      painter.setBrush(c.accent);
      painter.drawPolygon(corner);
    }
  }
}

// A patch that only one map keeps has its colour and pattern; one that both keep is lit, one that neither keeps is veiled.
void PatchView::paintDifference(QPainter& painter) const {
  const PromptPart* part = shownPart(m_model);
  QColor veil = theme().colors().surface;
  veil.setAlpha(kVeil);
  for (int row = 0; row < part->rows; ++row) {
    for (int column = 0; column < part->columns; ++column) {
      const int token = tokenOf(*part, row, column);
      const KeptBy by = token == PromptPart::kNoToken ? KeptBy::kNone : m_model.keptBy(token);
      const QRectF patch = patchRect(row, column);
      if (by == KeptBy::kBoth) continue;
      if (by == KeptBy::kNone) {
        painter.fillRect(patch, veil);
        continue;
      }
      QColor color = differenceColor(by == KeptBy::kFirst ? -1.0 : 1.0);
      painter.fillRect(patch, QBrush(color, by == KeptBy::kFirst ? Qt::BDiagPattern : Qt::FDiagPattern));
      color.setAlpha(130);
      painter.fillRect(patch, color);
    }
  }
}

// The words about a patch: without a token it left before the decoder.
QString PatchView::describe(int token) const {
  return token == PromptPart::kNoToken ? tr("Never read: it left before the cache") : m_model.describeToken(token);
}

void PatchView::tell(int token) {
  const QString text = shownPart(m_model) != nullptr ? describe(token) : QString();
  setAccessibleDescription(text);
  QAccessibleEvent changed(this, QAccessible::DescriptionChanged);
  QAccessible::updateAccessibility(&changed);
  Q_EMIT patchPointed(text);
}

void PatchView::point(int row, int column) {
  const PromptPart* part = shownPart(m_model);
  if (part == nullptr) return;
  m_row = std::clamp(row, 0, part->rows - 1);
  m_column = std::clamp(column, 0, part->columns - 1);
  tell(cursorToken());
  update();
}

void PatchView::mousePressEvent(QMouseEvent* event) {
  const PromptPart* part = shownPart(m_model);
  const QRectF picture = pictureRect();
  if (part == nullptr || !picture.contains(event->position())) return;
  point(static_cast<int>((event->position().y() - picture.top()) / picture.height() * part->rows),
        static_cast<int>((event->position().x() - picture.left()) / picture.width() * part->columns));
}

void PatchView::mouseMoveEvent(QMouseEvent* event) {
  const bool onPicture = shownPart(m_model) != nullptr && pictureRect().contains(event->position());
  Q_EMIT patchPointed(onPicture ? describe(tokenAt(event->position())) : QString());
}

void PatchView::leaveEvent(QEvent* event) {
  QWidget::leaveEvent(event);
  Q_EMIT patchPointed(hasFocus() && shownPart(m_model) != nullptr ? describe(cursorToken()) : QString());
}

void PatchView::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_Left: point(m_row, m_column - 1); return;
    case Qt::Key_Right: point(m_row, m_column + 1); return;
    case Qt::Key_Up: point(m_row - 1, m_column); return;
    case Qt::Key_Down: point(m_row + 1, m_column); return;
    case Qt::Key_PageUp: m_model.setLayer(m_model.layer() - 1); return;
    case Qt::Key_PageDown: m_model.setLayer(m_model.layer() + 1); return;
    default: QWidget::keyPressEvent(event); return;
  }
}

void PatchView::focusInEvent(QFocusEvent* event) {
  QWidget::focusInEvent(event);
  tell(cursorToken());
  update();
}

void PatchView::focusOutEvent(QFocusEvent* event) {
  QWidget::focusOutEvent(event);
  Q_EMIT patchPointed({});
  update();
}

}  // namespace winnow::ui
