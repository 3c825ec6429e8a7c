#include "ui/inspector/timeline_chart.h"

#include <QHelpEvent>
#include <QPainter>
#include <QPainterPath>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <utility>

#include "app/words/format_text.h"
#include "ui/inspector/chart_export.h"
#include "ui/models/timeline_table_model.h"
#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {

using app::TimelinePoint;
using Mark = TimelinePoint::Mark;

QFont captionFont() { return theme().font(TextRole::kCaption); }

// From the end of reading on: of what was before nothing is known.
double secondsOf(const app::TurnTimeline& turn) { return turn.empty() ? 0.0 : (turn.points.back().ms - turn.points.front().ms) / 1000.0; }

}  // namespace

double roundSeconds(double seconds) {
  constexpr double kLeast = 0.01;
  if (!(seconds > kLeast)) return kLeast;
  const double magnitude = std::pow(10.0, std::floor(std::log10(seconds)));
  for (const double step : {1.0, 2.0, 5.0}) {
    if (magnitude * step >= seconds * (1.0 - 1e-12)) return magnitude * step;
  }
  return magnitude * 10.0;
}

ByteAxis roundBytes(double bytes) {
  double unit = 1024.0;
  while (bytes > 1000.0 * unit) unit *= 1024.0;
  const double value = std::max(1.0, bytes / unit);
  const double magnitude = std::pow(10.0, std::floor(std::log10(value)));
  constexpr std::pair<double, int> kSteps[] = {{1.0, 4}, {2.0, 4}, {3.0, 3}, {4.0, 4}, {6.0, 3}, {8.0, 4}, {10.0, 5}};
  for (const auto& [step, parts] : kSteps) {
    if (magnitude * step < value * (1.0 - 1e-12)) continue;
    return {unit * magnitude * step, step == 1.0 && magnitude > 1.0 ? 5 : parts};
  }
  return {unit * magnitude * 10.0, 5};
}

TimelineChart::TimelineChart(QWidget* parent) : QWidget(parent) {
  setAccessibleName(tr("Cache memory over time"));
  QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  policy.setHeightForWidth(true);
  setSizePolicy(policy);
  setMouseTracking(true);
}

void TimelineChart::setTurns(std::vector<app::TurnTimeline> turns) {
  if (turns == m_turns) return;
  const bool sameLegend = m_turns.empty() == turns.empty();
  m_turns = std::move(turns);
  m_axesS.clear();
  double bytes = 0.0;
  for (const app::TurnTimeline& turn : m_turns) {
    m_axesS.push_back(roundSeconds(secondsOf(turn)));
    for (const TimelinePoint& point : turn.points) bytes = std::max({bytes, point.full, point.total()});
  }
  m_axis = roundBytes(bytes);
  const auto shown = std::find_if(m_turns.rbegin(), m_turns.rend(), [](const app::TurnTimeline& turn) { return !turn.empty(); });
  if (shown != m_turns.rend()) {
    const TimelinePoint& last = shown->points.back();
    setAccessibleDescription(
        tr("%Ln turn(s), %1 now, %2 without compression. The table below has every value.", nullptr, static_cast<int>(m_turns.size()))
            .arg(app::formatBytes(qRound64(last.total())), app::formatBytes(qRound64(last.full))));
  } else {
    setAccessibleDescription(QString());
  }
  if (!sameLegend) updateGeometry();
  update();
}

void TimelineChart::setAttached(app::AttachedKind attached) {
  if (attached == m_attached) return;
  m_attached = attached;
  updateGeometry();
  update();
}

std::vector<TimelineChart::Legend> TimelineChart::legend() const {
  const Colors& c = theme().colors();
  const bool documents = m_attached == app::AttachedKind::kDocument || m_attached == app::AttachedKind::kDocuments;
  return {{tr("Text"), c.chartText},
          {tr("Images"), c.chartImage},
          {documents                                 ? app::attachedLabel(m_attached)
           : m_attached == app::AttachedKind::kMixed ? tr("Videos, documents")
                                                     : tr("Videos"),
           c.chartVisual},
          {tr("Answer"), c.chartWritten},
          {tr("Full cache"), c.text, true}};
}

int TimelineChart::legendRows(int width) const {
  const QFontMetricsF metrics(captionFont());
  qreal x = 0;
  int rows = 1;
  for (const Legend& entry : legend()) {
    const qreal wide = metrics.horizontalAdvance(entry.text) + theme().px(30);
    if (x > 0 && x + wide > width) {
      ++rows;
      x = 0;
    }
    x += wide;
  }
  return rows;
}

int TimelineChart::heightForWidth(int width) const {
  const qreal line = QFontMetricsF(captionFont()).height();
  return theme().px(200) + qRound(line) + legendRows(width) * qRound(line + theme().px(2));
}

QSize TimelineChart::sizeHint() const { return QSize(theme().px(260), heightForWidth(theme().px(260))); }
QSize TimelineChart::minimumSizeHint() const { return QSize(theme().px(180), heightForWidth(width() > 0 ? width() : theme().px(260))); }

QRectF TimelineChart::plotArea() const {
  const QFontMetricsF metrics(captionFont());
  qreal label = 0;
  for (int line = 0; line <= m_axis.parts; ++line) {
    label = std::max(label, metrics.horizontalAdvance(app::formatBytes(qRound64(m_axis.end * line / m_axis.parts))));
  }
  const qreal top = legendRows(width()) * (metrics.height() + theme().px(2)) + theme().px(28);
  return QRectF(label + theme().px(6), top, std::max<qreal>(20, width() - label - theme().px(14)),
                std::max<qreal>(20, height() - top - metrics.height() - theme().px(6)));
}

// The signs at a turn's ends stand clear of its neighbours'.
QRectF TimelineChart::turnArea(std::size_t turn, const QRectF& area) const {
  const qreal width = area.width() / static_cast<qreal>(m_turns.size());
  const qreal inset = std::min<qreal>(theme().px(5), width / 4);
  return {area.left() + width * static_cast<qreal>(turn) + inset, area.top(), width - 2 * inset, area.height()};
}

double TimelineChart::xOf(std::size_t turn, const TimelinePoint& point, const QRectF& area) const {
  const QRectF own = turnArea(turn, area);
  const double seconds = (point.ms - m_turns[turn].points.front().ms) / 1000.0;
  return own.left() + own.width() * std::min(1.0, seconds / m_axesS[turn]);
}

void TimelineChart::paintLegend(QPainter& painter) const {
  const Colors& c = theme().colors();
  const QFontMetricsF metrics(captionFont());
  const qreal row = metrics.height() + theme().px(2);
  qreal x = 0;
  qreal y = 0;
  for (const Legend& entry : legend()) {
    const qreal wide = metrics.horizontalAdvance(entry.text) + theme().px(30);
    if (x > 0 && x + wide > width()) {
      x = 0;
      y += row;
    }
    const QRectF mark(x, y + row / 2 - theme().px(4), theme().px(14), theme().px(8));
    if (entry.dashed) {
      painter.setPen(QPen(entry.color, 1.4, Qt::DashLine));
      painter.drawLine(QPointF(mark.left(), mark.center().y()), QPointF(mark.right(), mark.center().y()));
    } else {
      painter.setPen(Qt::NoPen);
      painter.setBrush(entry.color);
      painter.drawRoundedRect(mark, 2, 2);
    }
    painter.setPen(c.mutedText);
    painter.drawText(QRectF(mark.right() + theme().px(5), y, wide, row), Qt::AlignLeft | Qt::AlignVCenter, entry.text);
    x += wide;
  }
}

void TimelineChart::paintGrid(QPainter& painter, const QRectF& area) const {
  const Colors& c = theme().colors();
  const QFontMetricsF metrics(captionFont());
  for (int line = 0; line <= m_axis.parts; ++line) {
    const qreal y = std::round(area.bottom() - area.height() * line / m_axis.parts) + 0.5;
    painter.setPen(QPen(line == 0 ? c.strongBorder : c.border, 1));
    painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y));
    painter.setPen(c.mutedText);
    painter.drawText(QRectF(0, y - metrics.height() / 2, area.left() - theme().px(6), metrics.height()), Qt::AlignRight | Qt::AlignVCenter,
                     app::formatBytes(qRound64(m_axis.end * line / m_axis.parts)));
  }
  // Under each turn its number and how long it took from the question on, as far as there is room; always under the last.
  const qreal y = area.bottom() + theme().px(4);
  qreal right = area.right() + theme().px(8);
  for (std::size_t turn = m_turns.size(); turn-- > 0;) {
    if (m_turns[turn].empty()) continue;
    const QString words = tr("%1: %2").arg(turn + 1).arg(app::formatMilliseconds(m_turns[turn].points.back().ms));
    const qreal wide = metrics.horizontalAdvance(words);
    const qreal left = std::max(area.left(), std::min(turnArea(turn, area).center().x() - wide / 2, area.right() - wide));
    if (left + wide + theme().px(8) > right) continue;
    painter.drawText(QRectF(left, y, wide + 1, metrics.height()), Qt::AlignLeft | Qt::AlignTop, words);
    right = left;
  }
}

void TimelineChart::paintTurn(QPainter& painter, std::size_t turn, const QRectF& area) const {
  const Colors& c = theme().colors();
  std::vector<TimelinePoint> points = m_turns[turn].points;
  if (points.empty()) return;
  if (secondsOf(m_turns[turn]) <= 0.0) {  // one moment is known: what was held stands over all of the turn
    points = {points.back(), points.back()};
    points.front().ms = m_turns[turn].points.front().ms;
    points.back().ms = points.front().ms + m_axesS[turn] * 1000.0;
  }
  const auto y = [&](double bytes) { return area.bottom() - area.height() * std::min(1.0, bytes / m_axis.end); };
  struct Band {
    double TimelinePoint::*member;
    QColor color;
  };
  const Band bands[] = {{&TimelinePoint::text, c.chartText},
                        {&TimelinePoint::image, c.chartImage},
                        {&TimelinePoint::video, c.chartVisual},
                        {&TimelinePoint::generated, c.chartWritten}};
  std::vector<double> below(points.size(), 0.0);
  bool ground = false;  // something lies under the next band
  for (const Band& band : bands) {
    QPolygonF shape;
    bool any = false;
    for (std::size_t i = 0; i < points.size(); ++i) {
      any = any || points[i].*band.member > 0.0;
      shape << QPointF(xOf(turn, points[i], area), y(below[i] + points[i].*band.member));
    }
    for (std::size_t i = points.size(); i-- > 0;) shape << QPointF(xOf(turn, points[i], area), y(below[i]));
    for (std::size_t i = 0; i < points.size(); ++i) below[i] += points[i].*band.member;
    if (!any) continue;
    painter.setPen(Qt::NoPen);
    painter.setBrush(band.color);
    painter.drawPolygon(shape);
    if (ground) {  // between neighbours, for eyes that see them alike
      painter.setPen(QPen(c.surface, 1));
      const qsizetype fall = points.front().mark == Mark::kPrefillEnd ? 1 : 0;  // where the event took the most away
      painter.drawPolyline(shape.sliced(static_cast<qsizetype>(points.size()), static_cast<qsizetype>(points.size()) - fall));
    }
    ground = true;
  }
  QPolygonF full;
  for (const TimelinePoint& point : points) full << QPointF(xOf(turn, point, area), y(point.full));
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(c.text, 1.4, Qt::DashLine));
  painter.drawPolyline(full);
}

void TimelineChart::paintMarks(QPainter& painter, std::size_t turn, const QRectF& area) const {
  const Colors& c = theme().colors();
  const qreal sign = theme().px(4);
  const qreal low = area.top() - theme().px(8);
  const qreal start = area.left() + area.width() * static_cast<qreal>(turn) / static_cast<qreal>(m_turns.size());
  painter.setPen(QPen(c.strongBorder, 1, Qt::DotLine));
  if (turn > 0) painter.drawLine(QPointF(start, area.top() - theme().px(4)), QPointF(start, area.bottom()));
  for (const TimelinePoint& point : m_turns[turn].points) {
    if (point.mark == Mark::kNone || point.mark == Mark::kEnd) continue;
    const qreal x = xOf(turn, point, area);
    // Compression follows the reading within a moment: its sign stands above.
    const qreal line = point.mark == Mark::kEvent ? low - 2.6 * sign : low;
    painter.setPen(QPen(c.mutedText, 1));
    painter.drawLine(QPointF(x, line + sign), QPointF(x, area.top() + theme().px(4)));
    painter.setPen(Qt::NoPen);
    painter.setBrush(c.mutedText);
    // One shape each: read, compressed, evicted.
    if (point.mark == Mark::kPrefillEnd) {
      painter.drawEllipse(QPointF(x, line), sign, sign);
    } else if (point.mark == Mark::kEvent) {
      painter.drawPolygon(QPolygonF({QPointF(x - sign, line - sign), QPointF(x + sign, line - sign), QPointF(x, line + sign)}));
    } else {
      painter.drawRect(QRectF(x - sign, line - sign, 2 * sign, 2 * sign));
    }
  }
}

void TimelineChart::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setFont(captionFont());
  const QRectF area = plotArea();
  paintLegend(painter);
  paintGrid(painter, area);
  for (std::size_t turn = 0; turn < m_turns.size(); ++turn) paintTurn(painter, turn, area);
  for (std::size_t turn = 0; turn < m_turns.size(); ++turn) paintMarks(painter, turn, area);
  paintFocusRing(*this, painter);
}

QString TimelineChart::describeAt(const QPointF& place) const {
  const QRectF area = plotArea().adjusted(0, -theme().px(28), 0, 0);
  if (!area.contains(place)) return {};
  const TimelinePoint* nearest = nullptr;
  std::size_t of = 0;
  qreal distance = theme().px(24);
  for (std::size_t turn = 0; turn < m_turns.size(); ++turn) {
    for (const TimelinePoint& point : m_turns[turn].points) {
      const qreal away = std::abs(xOf(turn, point, area) - place.x());
      // A marked point wins over others at the same place.
      if (away > distance || (away == distance && point.mark == Mark::kNone)) continue;
      distance = away;
      nearest = &point;
      of = turn;
    }
  }
  if (nearest == nullptr) return {};
  const auto bytes = [](double value) { return app::formatBytes(qRound64(value)); };
  QStringList lines{tr("Turn %1, after %2").arg(of + 1).arg(app::formatMilliseconds(nearest->ms))};
  if (nearest->mark != Mark::kNone) lines.front() += QStringLiteral(": ") + markText(nearest->mark);
  lines << tr("%1 in use, %2 without compression").arg(bytes(nearest->total()), bytes(nearest->full));
  lines << tr("Text %1, images %2, videos %3, answer %4")
               .arg(bytes(nearest->text), bytes(nearest->image), bytes(nearest->video), bytes(nearest->generated));
  return lines.join(QLatin1Char('\n'));
}

bool TimelineChart::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    const QString text = describeAt(help->pos());
    text.isEmpty() ? QToolTip::hideText() : QToolTip::showText(help->globalPos(), text, this);
    return true;
  }
  return QWidget::event(event);
}

}  // namespace winnow::ui
