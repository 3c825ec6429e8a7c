#include "ui/inspector/charts.h"

#include <QHelpEvent>
#include <QPainter>
#include <QPainterPath>
#include <QToolTip>
#include <algorithm>
#include <utility>

#include "app/words/format_text.h"
#include "ui/inspector/chart_export.h"
#include "ui/recipes/method_texts.h"
#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {

void bar(QPainter& painter, const QRectF& rect, const QColor& color, qreal radius) {
  painter.setPen(Qt::NoPen);
  painter.setBrush(color);
  painter.drawRoundedRect(rect, radius, radius);
}

qreal captionHeight() { return QFontMetricsF(theme().font(TextRole::kCaption)).height(); }

}  // namespace

MemoryBar::MemoryBar(QWidget* parent) : QWidget(parent) {
  setAccessibleName(tr("Cache memory"));
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void MemoryBar::setBytes(qint64 used, qint64 full) {
  if (used == m_used && full == m_full) return;
  m_used = used;
  m_full = full;
  setAccessibleDescription(tr("%1 in use, %2 without compression").arg(app::formatBytes(used), app::formatBytes(full)));
  update();
}

QSize MemoryBar::sizeHint() const { return QSize(theme().px(160), theme().px(14)); }

void MemoryBar::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const Colors& c = theme().colors();
  const QRectF track(0, 0, width(), height());
  const qreal radius = track.height() / 2;
  bar(painter, track, c.chartTrack, radius);
  painter.setPen(QPen(c.chartFull, 1));
  painter.setBrush(Qt::NoBrush);
  painter.drawRoundedRect(track.adjusted(0.5, 0.5, -0.5, -0.5), radius, radius);
  if (m_full <= 0 || m_used <= 0) return;
  QRectF used = track;
  used.setWidth(std::max(track.height(), track.width() * std::min(1.0, double(m_used) / double(m_full))));
  bar(painter, used, c.accent, radius);
}

KeptBar::KeptBar(Kind kind, QWidget* parent) : QWidget(parent), m_kind(kind) {
  setAccessibleName(kind == Kind::kVisual ? tr("Kept tokens of what is attached") : tr("Kept text tokens"));
  m_label = kind == Kind::kVisual ? tr("Attached") : tr("Text");
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void KeptBar::setLabel(const QString& label) {
  if (label == m_label) return;
  m_label = label;
  setAccessibleName(tr("Kept tokens: %1").arg(label));
  update();
}

void KeptBar::setValues(double kept, double total) {
  if (kept == m_kept && total == m_total) return;
  m_kept = kept;
  m_total = total;
  setAccessibleDescription(tr("%1 of %2").arg(app::formatCount(kept), app::formatCount(total)));
  update();
}

QSize KeptBar::sizeHint() const { return QSize(theme().px(160), qRound(captionHeight()) + theme().px(14)); }

void KeptBar::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const Colors& c = theme().colors();
  const QColor color = m_kind == Kind::kVisual ? c.chartVisual : c.chartText;
  const qreal line = captionHeight();
  painter.setFont(theme().font(TextRole::kCaption));
  const qreal dot = theme().px(8);
  painter.setPen(Qt::NoPen);
  painter.setBrush(color);
  if (m_kind == Kind::kVisual) {
    painter.drawRoundedRect(QRectF(0, line / 2 - dot / 2, dot, dot), 2, 2);
  } else {
    painter.drawEllipse(QRectF(0, line / 2 - dot / 2, dot, dot));
  }
  painter.setPen(c.text);
  painter.drawText(QRectF(dot + theme().px(6), 0, width(), line), Qt::AlignLeft | Qt::AlignVCenter, m_label);
  painter.setPen(c.mutedText);
  if (m_total > 0) {
    painter.drawText(
        QRectF(0, 0, width(), line), Qt::AlignRight | Qt::AlignVCenter,
        tr("%1 of %2 · %3").arg(app::formatCount(m_kept), app::formatCount(m_total), app::formatShare(std::min(1.0, m_kept / m_total))));
  } else if (m_kept > 0) {
    painter.drawText(QRectF(0, 0, width(), line), Qt::AlignRight | Qt::AlignVCenter, app::formatCount(m_kept));
  }
  const QRectF track(0, line + theme().px(4), width(), theme().px(6));
  bar(painter, track, c.chartTrack, track.height() / 2);
  if (m_total <= 0 || m_kept <= 0) return;
  QRectF filled = track;
  filled.setWidth(std::max(track.height(), track.width() * std::min(1.0, m_kept / m_total)));
  bar(painter, filled, color, track.height() / 2);
}

double LayerBars::allowed(const LayerFigures& layer) { return std::max(double(layer.budget), layer.kept); }

LayerBars::LayerBars(QWidget* parent) : QWidget(parent) {
  setAccessibleName(tr("Budget and kept tokens per layer"));
  m_attached = tr("Attached");
  setMouseTracking(true);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void LayerBars::setLayers(const std::vector<LayerFigures>& layers, const std::vector<SlotCounts>& slots) {
  const bool resized = layers.size() != m_layers.size();
  m_layers = layers;
  m_slots = slots;
  m_slots.resize(m_layers.size());
  QStringList lines;
  for (std::size_t i = 0; i < m_layers.size() && i < 64; ++i) lines << describe(static_cast<int>(i));
  setAccessibleDescription(lines.join(QLatin1String("; ")));
  if (resized) updateGeometry();
  update();
}

qreal LayerBars::rowHeight() const { return std::max<qreal>(captionHeight() + theme().px(4), theme().px(18)); }

QSize LayerBars::sizeHint() const {
  return QSize(theme().px(220), qRound(rowHeight() * std::max<qreal>(1, static_cast<qreal>(m_layers.size()))) + theme().px(2));
}

QSize LayerBars::minimumSizeHint() const { return QSize(theme().px(160), sizeHint().height()); }

QString LayerBars::describe(int layer) const {
  if (layer < 0 || layer >= static_cast<int>(m_layers.size())) return {};
  const LayerFigures& f = m_layers[static_cast<std::size_t>(layer)];
  const SlotCounts& now = m_slots[static_cast<std::size_t>(layer)];
  QString text = tr("Layer %1: budget %2, kept %3 (%4 %5, %6 text), %7")
                     .arg(layer)
                     .arg(app::formatCount(double(f.budget)), app::formatCount(f.kept), app::formatCount(f.kept_visual),
                          m_attached.toLower(), app::formatCount(f.kept_text), app::formatBytes(f.bytes));
  const double left = f.kept - now.visual - now.text;
  if (now.generated > 0) text += tr(", %1 written").arg(app::formatCount(now.generated));
  if (now.generated > 0 && left > 0.5) text += tr(", %1 evicted while writing").arg(app::formatCount(left));
  for (const auto& [name, value] : f.why) {
    text += QStringLiteral("\n%1 %2. %3").arg(reasonTitle(name), app::formatReal(value, 3), reasonHelp(name));
  }
  return text;
}

bool LayerBars::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    const QString text = describe(static_cast<int>(help->pos().y() / rowHeight()));
    text.isEmpty() ? QToolTip::hideText() : QToolTip::showText(help->globalPos(), text, this);
    return true;
  }
  return QWidget::event(event);
}

void LayerBars::paintEvent(QPaintEvent* event) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const Colors& c = theme().colors();
  const QFont font = theme().font(TextRole::kCaption);
  const QFontMetricsF metrics(font);
  painter.setFont(font);
  double largest = 1;
  for (std::size_t i = 0; i < m_layers.size(); ++i) largest = std::max({largest, allowed(m_layers[i]), m_slots[i].total()});
  const qreal label = metrics.horizontalAdvance(QString::number(std::max<std::size_t>(10, m_layers.size()))) + theme().px(8);
  qreal value = 0;
  for (const SlotCounts& slots : m_slots) value = std::max(value, metrics.horizontalAdvance(app::formatCount(slots.total())));
  value += theme().px(8);
  const qreal room = std::max<qreal>(20, width() - label - value);
  const qreal row = rowHeight();
  const qreal bar = std::min<qreal>(row - theme().px(5), theme().px(13));
  const int first = std::max(0, static_cast<int>(event->rect().top() / row));
  for (int i = first; i < static_cast<int>(m_layers.size()) && i * row <= event->rect().bottom(); ++i) {
    const LayerFigures& layer = m_layers[static_cast<std::size_t>(i)];
    const SlotCounts& now = m_slots[static_cast<std::size_t>(i)];
    const qreal y = i * row;
    painter.setPen(c.mutedText);
    painter.drawText(QRectF(0, y, label - theme().px(8), row), Qt::AlignRight | Qt::AlignVCenter, QString::number(i));
    painter.drawText(QRectF(width() - value, y, value, row), Qt::AlignRight | Qt::AlignVCenter, app::formatCount(now.total()));
    const QRectF budget(label, y + (row - bar) / 2, std::max<qreal>(2, room * allowed(layer) / largest), bar);
    QPainterPath clip;
    const QRectF fill(label, budget.top(), room * now.total() / largest, bar);
    clip.addRoundedRect(fill.united(QRectF(fill.topLeft(), QSizeF(2, bar))), theme().px(3), theme().px(3));
    painter.save();
    painter.setClipPath(clip);
    qreal x = label;
    for (const auto& [slots, color] :
         {std::pair{now.visual, c.chartVisual}, std::pair{now.text, c.chartText}, std::pair{now.generated, c.chartWritten}}) {
      const qreal wide = room * slots / largest;
      painter.fillRect(QRectF(x, fill.top(), wide, bar), color);
      x += wide;
    }
    painter.restore();
    painter.setPen(QPen(c.strongBorder, 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawRoundedRect(budget.adjusted(0.5, 0.5, -0.5, -0.5), theme().px(3), theme().px(3));
  }
  paintFocusRing(*this, painter);
}

Sparkline::Sparkline(QWidget* parent) : QWidget(parent) {
  setAccessibleName(tr("Tokens per second over time"));
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void Sparkline::setValues(const std::vector<double>& values) {
  m_values = values;
  if (!values.empty()) setAccessibleDescription(tr("Now %1 tokens per second").arg(app::formatCount(values.back())));
  update();
}

QSize Sparkline::sizeHint() const { return QSize(theme().px(120), theme().px(36)); }
QSize Sparkline::minimumSizeHint() const { return QSize(theme().px(60), theme().px(36)); }

void Sparkline::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const Colors& c = theme().colors();
  const QRectF area = QRectF(rect()).adjusted(1, theme().px(3), -theme().px(3), -theme().px(3));
  painter.setPen(QPen(c.border, 1));
  painter.drawLine(QPointF(area.left(), area.bottom()), QPointF(area.right(), area.bottom()));
  if (m_values.size() < 2) {
    paintFocusRing(*this, painter);
    return;
  }
  const double top = std::max(1e-9, *std::max_element(m_values.begin(), m_values.end())) * 1.08;
  const std::size_t pixels = static_cast<std::size_t>(std::max<qreal>(2, area.width()));
  const std::size_t step = std::max<std::size_t>(1, m_values.size() / pixels);
  QPolygonF line;
  for (std::size_t i = 0; i < m_values.size(); i += step) {
    line << QPointF(area.left() + area.width() * double(i) / double(m_values.size() - 1),
                    area.bottom() - area.height() * m_values[i] / top);
  }
  QPolygonF under = line;
  under << QPointF(line.back().x(), area.bottom()) << QPointF(line.front().x(), area.bottom());
  painter.setPen(Qt::NoPen);
  QColor soft = c.accent;
  soft.setAlpha(40);
  painter.setBrush(soft);
  painter.drawPolygon(under);
  painter.setPen(QPen(c.accent, 1.6, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
  painter.setBrush(Qt::NoBrush);
  painter.drawPolyline(line);
  painter.setPen(Qt::NoPen);
  painter.setBrush(c.accent);
  painter.drawEllipse(line.back(), theme().px(2.4), theme().px(2.4));
  paintFocusRing(*this, painter);
}

}  // namespace winnow::ui
