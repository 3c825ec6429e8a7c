#include "ui/kept_map/kept_heat_map.h"

#include <QAccessible>
#include <QHelpEvent>
#include <QImage>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <iterator>

#include "app/words/format_text.h"
#include "ui/kept_map/kept_map_model.h"
#include "ui/theme/ramp.h"
#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {

QFontMetricsF captionMetrics() { return QFontMetricsF(theme().font(TextRole::kCaption)); }

QColor cellColor(const KeptMapModel& model, int layer, int part) {
  const double share = model.share(layer, part);
  return model.isDifference() ? differenceColor(share) : shareColor(share);
}

// Without a percent sign: there is a legend.
QString cellNumber(double share, bool difference) {
  const int percent = static_cast<int>(std::lround(share * 100.0));
  return difference && percent > 0 ? QStringLiteral("+%1").arg(percent) : QString::number(percent);
}

}  // namespace

KeptHeatMap::KeptHeatMap(KeptMapModel& model, QWidget* parent) : QWidget(parent), m_model(model) {
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  setAccessibleName(tr("Kept tokens by layer and part of the prompt"));
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
  const auto changed = [this] {
    describe();
    update();
  };
  connect(&m_model, &KeptMapModel::mapChanged, this, [this, changed] {
    updateGeometry();
    changed();
  });
  connect(&m_model, &KeptMapModel::sharesChanged, this, changed);
  connect(&m_model, &KeptMapModel::selectionChanged, this, changed);
  connect(&theme(), &Theme::changed, this, [this] { updateGeometry(); });
}

void KeptHeatMap::describe() {
  setAccessibleDescription(m_model.describe(m_model.layer(), m_model.part()));
  QAccessibleEvent changed(this, QAccessible::DescriptionChanged);
  QAccessible::updateAccessibility(&changed);
}

QSize KeptHeatMap::sizeHint() const {
  const int rows = std::max(4, m_model.layers());
  const int row = std::clamp(theme().px(420) / rows, theme().px(8), theme().px(24));
  return QSize(theme().px(460), row * rows + qRound(2 * captionMetrics().height()) + theme().px(10));
}

QSize KeptHeatMap::minimumSizeHint() const {
  return QSize(theme().px(160), theme().px(4) * std::max(8, m_model.layers()) + qRound(2 * captionMetrics().height()) + theme().px(10));
}

QRectF KeptHeatMap::area() const {
  const QFontMetricsF metrics = captionMetrics();
  const qreal left = metrics.horizontalAdvance(QString::number(std::max(10, m_model.layers()))) + theme().px(10);
  const qreal bottom = 2 * metrics.height() + theme().px(8);
  // Few layers fill the page nevertheless; one layer more is no taller cell than reads well.
  const qreal most = std::max<qreal>(theme().px(440), static_cast<qreal>(theme().px(34)) * std::max(1, m_model.layers()));
  const qreal top = metrics.height() / 2 - theme().px(3);
  const qreal height = std::min(std::max<qreal>(1, this->height() - bottom - top - 2), most);
  // Room for the first label where rows are lower than text.
  return QRectF(left, top, std::max<qreal>(1, width() - left - 2), height);
}

QRectF KeptHeatMap::cellRect(int layer, int part) const {
  const QRectF cells = area();
  const qreal width = cells.width() / std::max<qreal>(1, static_cast<qreal>(m_model.parts().size()));
  const qreal height = cells.height() / std::max(1, m_model.layers());
  return QRectF(cells.left() + part * width, cells.top() + layer * height, width, height);
}

bool KeptHeatMap::cellAt(const QPointF& point, int& layer, int& part) const {
  const QRectF cells = area();
  if (m_model.isEmpty() || !cells.contains(point)) return false;
  const auto parts = static_cast<int>(m_model.parts().size());
  layer = std::clamp(static_cast<int>((point.y() - cells.top()) / cells.height() * m_model.layers()), 0, m_model.layers() - 1);
  part = std::clamp(static_cast<int>((point.x() - cells.left()) / cells.width() * parts), 0, parts - 1);
  return true;
}

void KeptHeatMap::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const Colors& c = theme().colors();
  if (m_model.isEmpty()) return;
  const QRectF cells = area();
  paintCells(painter, cells);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(c.border, 1));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(cells.adjusted(-0.5, -0.5, 0.5, 0.5));
  paintAxes(painter, cells);

  // The selected layer and part, and where they meet: in two tones, to be seen on every colour.
  const QRectF cell = cellRect(m_model.layer(), m_model.part());
  const QRectF row(cells.left(), cell.top(), cells.width(), cell.height());
  painter.setBrush(Qt::NoBrush);
  QColor line = c.text;
  line.setAlpha(120);
  painter.setPen(QPen(line, 1));
  painter.drawLine(row.topLeft(), row.topRight());
  painter.drawLine(row.bottomLeft(), row.bottomRight());
  const QRectF frame = cell.adjusted(-1, -1, 1, 1);
  painter.setPen(QPen(c.surface, 4));
  painter.drawRect(frame);
  painter.setPen(QPen(hasFocus() ? c.accent : c.text, 2));
  painter.drawRect(frame);
  if (hasFocus()) painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), theme().smallRadius(), theme().smallRadius());
}

void KeptHeatMap::paintCells(QPainter& painter, const QRectF& cells) const {
  const auto parts = static_cast<int>(m_model.parts().size());
  const int layers = m_model.layers();
  // One pixel a cell, drawn large: hundreds of frames cost no more than one picture.
  QImage image(parts, layers, QImage::Format_RGB32);
  for (int layer = 0; layer < layers; ++layer) {
    for (int part = 0; part < parts; ++part) image.setPixelColor(part, layer, cellColor(m_model, layer, part));
  }
  painter.drawImage(cells, image);
  const qreal width = cells.width() / parts;
  const qreal height = cells.height() / layers;
  if (width >= theme().px(7) && height >= theme().px(7)) {
    QColor line = theme().colors().surface;
    line.setAlpha(90);
    painter.setPen(QPen(line, 1));
    for (int part = 1; part < parts; ++part)
      painter.drawLine(QPointF(cells.left() + part * width, cells.top()), QPointF(cells.left() + part * width, cells.bottom()));
    for (int layer = 1; layer < layers; ++layer)
      painter.drawLine(QPointF(cells.left(), cells.top() + layer * height), QPointF(cells.right(), cells.top() + layer * height));
  }
  const QFontMetricsF metrics = captionMetrics();
  const QString widest = m_model.isDifference() ? QStringLiteral("+100") : QStringLiteral("100");
  if (width < metrics.horizontalAdvance(widest) + theme().px(4) || height < metrics.height()) return;
  painter.setFont(theme().font(TextRole::kCaption));
  for (int layer = 0; layer < layers; ++layer) {
    for (int part = 0; part < parts; ++part) {
      painter.setPen(inkOn(cellColor(m_model, layer, part)));
      painter.drawText(cellRect(layer, part), Qt::AlignCenter, cellNumber(m_model.share(layer, part), m_model.isDifference()));
    }
  }
}

void KeptHeatMap::paintAxes(QPainter& painter, const QRectF& cells) const {
  const Colors& c = theme().colors();
  const QFontMetricsF metrics = captionMetrics();
  painter.setFont(theme().font(TextRole::kCaption));
  const int layers = m_model.layers();
  const qreal height = cells.height() / layers;
  const int step = std::max(1, static_cast<int>(std::ceil(metrics.height() / height)));
  for (int layer = 0; layer < layers; ++layer) {
    const bool selected = layer == m_model.layer();
    if (!selected && (layer % step != 0 || (step > 1 && std::abs(layer - m_model.layer()) < step))) continue;
    painter.setPen(selected ? c.text : c.mutedText);
    const QRectF label(0, cells.top() + layer * height, cells.left() - theme().px(6), height);
    painter.drawText(label, Qt::AlignRight | Qt::AlignVCenter | Qt::TextDontClip, QString::number(layer));
  }
  paintMediaAxis(painter, cells, cells.bottom() + theme().px(3));
}

// Below the cells: times of frames and numbers of lines where they fit, and under them what a run of columns belongs to.
void KeptHeatMap::paintMediaAxis(QPainter& painter, const QRectF& cells, qreal top) const {
  const Colors& c = theme().colors();
  const QFontMetricsF metrics = captionMetrics();
  const std::vector<PromptPart>& parts = m_model.parts();
  const qreal width = cells.width() / static_cast<qreal>(parts.size());
  qreal freeFrom = cells.left();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const MapMedia* media = m_model.mediaOf(parts[i]);
    QString text;
    if (parts[i].kind == PartKind::kFrame) {
      const auto frame = static_cast<std::size_t>(std::max(0, parts[i].frame));
      text = media != nullptr && frame < media->timesS.size() ? app::formatClock(media->timesS[frame]) : QString::number(frame + 1);
    } else if (parts[i].kind == PartKind::kWhole) {
      text = tr("whole");
    } else if (parts[i].kind == PartKind::kTiles) {
      text = tr("tiles");
    } else if (parts[i].kind == PartKind::kLines && (media == nullptr || media->kind == MediaKind::kDocument)) {
      text = QString::number(parts[i].frame + 1);
    } else {
      continue;
    }
    const qreal wide = metrics.horizontalAdvance(text);
    const qreal centre = cells.left() + (static_cast<qreal>(i) + 0.5) * width;
    const qreal from = std::clamp(centre - wide / 2, cells.left(), std::max(cells.left(), cells.right() - wide));
    if (from < freeFrom) continue;
    painter.setPen(c.mutedText);
    painter.drawText(QRectF(from, top, wide + 1, metrics.height()), Qt::AlignCenter | Qt::TextDontClip, text);
    freeFrom = from + wide + theme().px(14);
  }
  // Runs of one medium, and texts.
  const qreal line = top + metrics.height() + theme().px(2);
  for (std::size_t first = 0; first < parts.size();) {
    std::size_t last = first;
    while (parts[first].attached() && last + 1 < parts.size() && parts[last + 1].attached() && parts[last + 1].media == parts[first].media)
      ++last;
    const QRectF run(cells.left() + static_cast<qreal>(first) * width, line, static_cast<qreal>(last - first + 1) * width,
                     metrics.height());
    const MapMedia* media = m_model.mediaOf(parts[first]);
    const QString name = media != nullptr                         ? media->title
                         : parts[first].kind == PartKind::kSystem ? tr("System")
                         : parts[first].kind == PartKind::kText   ? tr("Text")
                                                                  : m_model.partName(static_cast<int>(first));
    const QString shown = metrics.elidedText(name, Qt::ElideMiddle, run.width() - theme().px(4));
    painter.setPen(QPen(c.border, 1));
    if (first > 0) painter.drawLine(QPointF(run.left(), cells.bottom()), QPointF(run.left(), run.bottom()));
    painter.setPen(c.mutedText);
    if (shown == name || run.width() > theme().px(60)) painter.drawText(run, Qt::AlignCenter, shown);
    first = last + 1;
  }
}

void KeptHeatMap::select(const QPointF& point) {
  int layer = 0, part = 0;
  if (!cellAt(point, layer, part)) return;
  m_model.setLayer(layer);
  m_model.setPart(part);
}

void KeptHeatMap::mousePressEvent(QMouseEvent* event) {
  if (event->button() == Qt::LeftButton) select(event->position());
}

void KeptHeatMap::mouseMoveEvent(QMouseEvent* event) {
  if (event->buttons().testFlag(Qt::LeftButton)) select(event->position());
}

bool KeptHeatMap::stepsBy(int key) {
  const int keys[] = {Qt::Key_Left, Qt::Key_Right, Qt::Key_Up, Qt::Key_Down, Qt::Key_PageUp, Qt::Key_PageDown, Qt::Key_Home, Qt::Key_End};
  return std::find(std::begin(keys), std::end(keys), key) != std::end(keys);
}

void KeptHeatMap::keyPressEvent(QKeyEvent* event) {
  const int parts = static_cast<int>(m_model.parts().size());
  switch (event->key()) {
    case Qt::Key_Left: m_model.setPart(m_model.part() - 1); return;
    case Qt::Key_Right: m_model.setPart(m_model.part() + 1); return;
    case Qt::Key_Up:
    case Qt::Key_PageUp: m_model.setLayer(m_model.layer() - 1); return;
    case Qt::Key_Down:
    case Qt::Key_PageDown: m_model.setLayer(m_model.layer() + 1); return;
    case Qt::Key_Home: m_model.setPart(0); return;
    case Qt::Key_End: m_model.setPart(parts - 1); return;
    default: QWidget::keyPressEvent(event); return;
  }
}

bool KeptHeatMap::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    int layer = 0, part = 0;
    if (cellAt(help->pos(), layer, part)) {
      QToolTip::showText(help->globalPos(), m_model.describe(layer, part).toHtmlEscaped(), this, cellRect(layer, part).toAlignedRect());
    } else {
      QToolTip::hideText();
    }
    return true;
  }
  return QWidget::event(event);
}

KeptLegend::KeptLegend(KeptMapModel& model, QWidget* parent) : QWidget(parent), m_model(model) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  setAccessibleName(tr("Scale of the heat-map"));
  connect(&m_model, &KeptMapModel::mapChanged, this, [this] {
    setAccessibleDescription(m_model.isDifference()
                                 ? tr("Blue: %1 keeps more. Orange: %2 keeps more.").arg(m_model.firstName(), m_model.secondName())
                                 : tr("From 0 to 100 % of the tokens kept"));
    updateGeometry();
    update();
  });
  connect(&theme(), &Theme::changed, this, [this] { updateGeometry(); });
}

QSize KeptLegend::sizeHint() const { return QSize(theme().px(260), theme().px(12) + qRound(captionMetrics().height())); }
QSize KeptLegend::minimumSizeHint() const { return QSize(theme().px(140), sizeHint().height()); }

void KeptLegend::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const Colors& c = theme().colors();
  const QFontMetricsF metrics = captionMetrics();
  painter.setFont(theme().font(TextRole::kCaption));
  const qreal most = std::min<qreal>(width(), theme().px(360));
  const QRectF bar(1, 1, most - 2, theme().px(9));
  const bool difference = m_model.isDifference();
  for (int x = 0; x < static_cast<int>(bar.width()); ++x) {
    const double at = x / std::max<qreal>(1, bar.width() - 1);
    // The bar is even in colour, so its numbers are not.
    const double value = difference ? std::copysign((2 * at - 1) * (2 * at - 1), 2 * at - 1) : at * at;
    painter.fillRect(QRectF(bar.left() + x, bar.top(), 1, bar.height()), difference ? differenceColor(value) : shareColor(value));
  }
  painter.setPen(QPen(c.border, 1));
  painter.drawRect(bar.adjusted(-0.5, -0.5, 0.5, 0.5));
  painter.setPen(c.mutedText);
  const qreal top = bar.bottom() + theme().px(2);
  if (difference) {
    const qreal half = most / 2 - theme().px(4);
    painter.drawText(QRectF(0, top, half, metrics.height()), Qt::AlignLeft,
                     metrics.elidedText(tr("◀ %1 keeps more").arg(m_model.firstName()), Qt::ElideRight, half));
    painter.drawText(QRectF(most - half, top, half, metrics.height()), Qt::AlignRight,
                     metrics.elidedText(tr("%1 keeps more ▶").arg(m_model.secondName()), Qt::ElideRight, half));
    return;
  }
  qreal freeFrom = -1;
  for (const double share : {0.0, 0.02, 0.1, 0.25, 0.5, 1.0}) {
    const QString text = app::formatShare(share);
    const qreal wide = metrics.horizontalAdvance(text);
    const qreal from = std::clamp(bar.left() + std::sqrt(share) * bar.width() - wide / 2, 0.0, most - wide);
    if (from < freeFrom) continue;
    painter.drawText(QRectF(from, top, wide + 1, metrics.height()), Qt::AlignLeft, text);
    freeFrom = from + wide + theme().px(6);
  }
}

}  // namespace winnow::ui
