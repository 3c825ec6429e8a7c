#include "ui/composer/frame_strip.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "app/words/format_text.h"
#include "ui/composer/frame_pins.h"
#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {
constexpr int kResizeSettleMs = 120;
constexpr int kMaxPictures = 40;
qreal captionHeight() { return QFontMetricsF(theme().font(TextRole::kCaption)).height(); }
qreal dotBand() { return theme().px(10); }
qreal handleWidth() { return theme().px(9); }
}  // namespace

FrameStrip::FrameStrip(QWidget* parent) : QWidget(parent) {
  setFocusPolicy(Qt::TabFocus);
  setMouseTracking(true);
  setAccessibleName(tr("Frames of the video"));
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  m_resizeTimer.setSingleShot(true);
  m_resizeTimer.setInterval(kResizeSettleMs);
  connect(&m_resizeTimer, &QTimer::timeout, this, [this] {
    if (pictureCount() == m_wantedCount) return;
    clearPictures();
    Q_EMIT picturesWanted();
  });
  connect(&theme(), &Theme::changed, this, [this] {
    updateGeometry();
    m_resizeTimer.start();
  });
}

void FrameStrip::setVideo(double durationS, double aspect) {
  m_durationS = std::max(0.0, durationS);
  m_aspect = std::clamp(aspect, 0.4, 3.0);
  m_fromS = 0.0;
  m_toS = m_durationS;
  clearPictures();
  describe();
  m_resizeTimer.start();
}

void FrameStrip::setRange(double fromS, double toS) {
  m_fromS = std::clamp(fromS, 0.0, m_durationS);
  m_toS = toS < 0 ? m_durationS : std::clamp(toS, m_fromS, m_durationS);
  describe();
  update();
}

void FrameStrip::setPlannedFrames(int count) {
  m_planned = count;
  update();
}

void FrameStrip::describe() {
  const QString range = tr("From %1 to %2 of %3.").arg(app::formatClock(m_fromS), app::formatClock(m_toS), app::formatClock(m_durationS));
  const QString keys =
      tr("Up and Down choose a handle or the pictures. Left and Right move it. Enter shows the frame. P pins it. Shift+P pins everything "
         "from the last pinned frame to it.");
  QStringList parts{range, pinnedText(), keptText(), keys};
  if (m_active == Grip::kFrame && currentPicture() >= 0) {
    const QString time = app::formatClock(pictureTimes()[static_cast<std::size_t>(currentPicture())]);
    parts.prepend(m_pins != nullptr && m_pins->isPinned(currentPicture()) ? tr("Frame at %1, pinned.").arg(time)
                                                                          : tr("Frame at %1.").arg(time));
  }
  parts.removeAll(QString());
  setAccessibleDescription(parts.join(QLatin1Char(' ')));
}

QRectF FrameStrip::trackRect() const {
  const qreal side = handleWidth();
  return QRectF(side, 1, std::max<qreal>(1, width() - 2 * side), height() - captionHeight() - dotBand() - theme().px(4));
}

QSize FrameStrip::pictureSize() const {
  const qreal height = trackRect().height();
  return QSize(qRound(height * m_aspect), qRound(height));
}

int FrameStrip::pictureCount() const {
  if (m_durationS <= 0) return 0;
  // Wide enough for its time below as well.
  const qreal caption = QFontMetricsF(theme().font(TextRole::kCaption)).horizontalAdvance(app::formatClock(m_durationS)) + theme().px(8);
  const qreal wanted = std::max<qreal>(pictureSize().width(), caption);
  return std::clamp(static_cast<int>(std::round(trackRect().width() / wanted)), 1, kMaxPictures);
}

std::vector<double> FrameStrip::pictureTimes() const {
  std::vector<double> times;
  const int count = pictureCount();
  for (int i = 0; i < count; ++i) times.push_back((i + 0.5) * m_durationS / count);
  return times;
}

void FrameStrip::clearPictures() {
  m_wantedCount = pictureCount();
  m_pictures.assign(static_cast<std::size_t>(m_wantedCount), QImage());
  if (m_pins != nullptr) m_pins->setFrames(pictureTimes(), m_durationS);
  update();
}

void FrameStrip::setPicture(int index, double actualS, const QImage& image) {
  if (index < 0 || index >= static_cast<int>(m_pictures.size())) return;
  if (m_pins != nullptr) m_pins->setShown(index, actualS);
  m_pictures[static_cast<std::size_t>(index)] = image;
  update();
}

QRectF FrameStrip::pictureRect(int index) const {
  const QRectF track = trackRect();
  const qreal slot = track.width() / std::max<qreal>(1, static_cast<qreal>(m_pictures.size()));
  return QRectF(track.left() + index * slot, track.top(), slot, track.height());
}

QRectF FrameStrip::handleRect(bool end) const {
  const QRectF track = trackRect();
  const qreal x = xOf(end ? m_toS : m_fromS);
  return QRectF(end ? x : x - handleWidth(), track.top() - 1, handleWidth(), track.height() + 2);
}

double FrameStrip::timeAt(qreal x) const {
  const QRectF track = trackRect();
  return std::clamp((x - track.left()) / track.width(), 0.0, 1.0) * m_durationS;
}

qreal FrameStrip::xOf(double seconds) const {
  const QRectF track = trackRect();
  return track.left() + (m_durationS > 0 ? seconds / m_durationS : 0.0) * track.width();
}

QSize FrameStrip::sizeHint() const { return QSize(theme().px(420), qRound(theme().px(56) + dotBand() + captionHeight() + theme().px(4))); }

QSize FrameStrip::minimumSizeHint() const { return QSize(theme().px(120), sizeHint().height()); }

void FrameStrip::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHints(QPainter::Antialiasing | QPainter::SmoothPixmapTransform);
  const Colors& c = theme().colors();
  const QRectF track = trackRect();
  QPainterPath outline;
  outline.addRoundedRect(track, theme().smallRadius(), theme().smallRadius());
  painter.save();
  painter.setClipPath(outline);
  painter.fillRect(track, c.raised);
  for (std::size_t i = 0; i < m_pictures.size(); ++i) {
    const QRectF rect = pictureRect(static_cast<int>(i));
    if (!m_pictures[i].isNull()) {
      const QSizeF size = QSizeF(m_pictures[i].size()).scaled(rect.size(), Qt::KeepAspectRatioByExpanding);
      painter.save();
      painter.setClipRect(rect, Qt::IntersectClip);
      painter.drawImage(QRectF(rect.center() - QPointF(size.width() / 2, size.height() / 2), size), m_pictures[i]);
      painter.restore();
    }
    if (i > 0) painter.fillRect(QRectF(rect.left() - 0.5, rect.top(), 1, rect.height()), c.surface);
    const bool current = hasFocus() && m_active == Grip::kFrame && static_cast<int>(i) == currentPicture();
    if (static_cast<int>(i) == m_hoveredPicture || current) {
      painter.setPen(QPen(c.accent, 2));
      painter.setBrush(Qt::NoBrush);
      painter.drawRect(rect.adjusted(1, 1, -1, -1));
    }
  }
  QColor shade = c.window;
  shade.setAlpha(195);
  painter.fillRect(QRectF(track.left(), track.top(), xOf(m_fromS) - track.left(), track.height()), shade);
  painter.fillRect(QRectF(xOf(m_toS), track.top(), track.right() - xOf(m_toS), track.height()), shade);
  paintKept(painter, track);
  paintPins(painter, track);
  painter.restore();

  painter.setPen(Qt::NoPen);
  painter.setBrush(c.accent);
  painter.drawRect(QRectF(xOf(m_fromS), track.top() - 1, xOf(m_toS) - xOf(m_fromS), 2));
  painter.drawRect(QRectF(xOf(m_fromS), track.bottom() - 1, xOf(m_toS) - xOf(m_fromS), 2));
  for (const bool end : {false, true}) {
    const QRectF handle = handleRect(end);
    const bool active = hasFocus() && m_active == (end ? Grip::kTo : Grip::kFrom);
    painter.setPen(Qt::NoPen);
    painter.setBrush(c.accent);
    painter.drawRoundedRect(handle, theme().px(3), theme().px(3));
    painter.setPen(QPen(c.onAccent, 1.4, Qt::SolidLine, Qt::RoundCap));
    const QPointF centre = handle.center();
    painter.drawLine(centre - QPointF(0, theme().px(5)), centre + QPointF(0, theme().px(5)));
    if (active) {
      painter.setPen(QPen(c.text, 1.6));
      painter.setBrush(Qt::NoBrush);
      painter.drawRoundedRect(handle.adjusted(-1, 0, 1, 0), theme().px(4), theme().px(4));
    }
  }

  if (hasFocus()) {
    painter.setPen(QPen(c.accent, 2));
    painter.setBrush(Qt::NoBrush);
    painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), theme().smallRadius(), theme().smallRadius());
  }

  // The frames that will be sampled; more than one a pixel would only be a line.
  const qreal dotY = track.bottom() + dotBand() / 2 + 1;
  painter.setPen(Qt::NoPen);
  painter.setBrush(c.accent);
  const double span = m_toS - m_fromS;
  const qreal radius = m_planned * theme().px(5) > xOf(m_toS) - xOf(m_fromS) ? theme().px(1.2) : theme().px(1.8);
  for (int i = 0; i < m_planned && m_durationS > 0; ++i) {
    const double time = m_fromS + (i + 0.5) * span / m_planned;
    const QPointF dot(xOf(time), dotY);
    if (app::anyContains(m_sampledPins, time)) {
      painter.drawRect(QRectF(dot - QPointF(radius, radius * 1.6), QSizeF(2 * radius, 3.2 * radius)));
    } else {
      painter.drawEllipse(dot, radius, radius);
    }
  }

  painter.setFont(theme().font(TextRole::kCaption));
  const std::vector<double> times = pictureTimes();
  for (std::size_t i = 0; i < m_pictures.size() && i < times.size(); ++i) {
    const QRectF rect = pictureRect(static_cast<int>(i));
    const bool inside = times[i] >= m_fromS && times[i] <= m_toS;
    QColor color = c.mutedText;
    if (!inside) color.setAlpha(120);
    painter.setPen(color);
    painter.drawText(QRectF(rect.left(), track.bottom() + dotBand(), rect.width(), captionHeight() + 2), Qt::AlignHCenter | Qt::AlignTop,
                     app::formatClock(times[i]));
  }
}

void FrameStrip::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  m_resizeTimer.start();
}

void FrameStrip::moveHandle(Grip grip, double seconds) {
  // A range always has some length, or there would be nothing to sample.
  const double least = std::min(m_durationS, std::max(0.1, m_durationS / 200.0));
  if (grip == Grip::kFrom) m_fromS = std::clamp(seconds, 0.0, m_toS - least);
  if (grip == Grip::kTo) m_toS = std::clamp(seconds, m_fromS + least, m_durationS);
  describe();
  update();
  Q_EMIT rangeChanged(m_fromS, m_toS);
}

void FrameStrip::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton || m_durationS <= 0) return;
  const QPointF at = event->position();
  const qreal reach = theme().px(5);
  for (const bool end : {false, true}) {
    if (handleRect(end).adjusted(-reach, 0, reach, 0).contains(at)) {
      m_dragged = m_active = end ? Grip::kTo : Grip::kFrom;
      setFocus(Qt::MouseFocusReason);  // arrows go on where it was dropped
      update();
      return;
    }
  }
  for (std::size_t i = 0; i < m_pictures.size(); ++i) {
    if (pictureRect(static_cast<int>(i)).contains(at)) m_pressedPicture = static_cast<int>(i);
  }
}

void FrameStrip::mouseMoveEvent(QMouseEvent* event) {
  const QPointF at = event->position();
  if (m_dragged != Grip::kNone) {
    moveHandle(m_dragged, timeAt(at.x()));
    return;
  }
  const bool overHandle = handleRect(false).contains(at) || handleRect(true).contains(at);
  int hovered = -1;
  for (std::size_t i = 0; i < m_pictures.size() && !overHandle; ++i) {
    if (pictureRect(static_cast<int>(i)).contains(at)) hovered = static_cast<int>(i);
  }
  setCursor(overHandle ? Qt::SizeHorCursor : hovered >= 0 ? Qt::PointingHandCursor : Qt::ArrowCursor);
  if (hovered != m_hoveredPicture) {
    m_hoveredPicture = hovered;
    update();
  }
}

void FrameStrip::mouseReleaseEvent(QMouseEvent* event) {
  m_dragged = Grip::kNone;
  const int pressed = std::exchange(m_pressedPicture, -1);
  if (pressed < 0 || !pictureRect(pressed).contains(event->position())) return;
  makeCurrent(pressed);
  if (event->modifiers() & Qt::ShiftModifier) {
    pinCurrent(true);
  } else {
    Q_EMIT frameActivated(pictureTimes()[static_cast<std::size_t>(pressed)], pressed);
  }
}

void FrameStrip::keyPressEvent(QKeyEvent* event) {
  const double step = m_durationS / 100.0 * (event->modifiers() & Qt::ShiftModifier ? 10.0 : 1.0);
  const double at = m_active == Grip::kTo ? m_toS : m_fromS;
  const bool pictures = m_active == Grip::kFrame;
  switch (event->key()) {
    case Qt::Key_Left: pictures ? makeCurrent(currentPicture() - 1) : moveHandle(m_active, at - step); return;
    case Qt::Key_Right: pictures ? makeCurrent(currentPicture() + 1) : moveHandle(m_active, at + step); return;
    case Qt::Key_Home: pictures ? makeCurrent(0) : moveHandle(m_active, 0.0); return;
    case Qt::Key_End: pictures ? makeCurrent(static_cast<int>(m_pictures.size())) : moveHandle(m_active, m_durationS); return;
    case Qt::Key_Up:
    case Qt::Key_Down: {
      const Grip order[] = {Grip::kFrom, Grip::kTo, Grip::kFrame};
      const auto place = static_cast<std::size_t>(std::find(order, order + 3, m_active) - order);
      m_active = order[(place + (event->key() == Qt::Key_Down ? 1 : 2)) % 3];
      describe();
      update();
      return;
    }
    case Qt::Key_P:
      if (event->modifiers() & ~(Qt::ShiftModifier | Qt::KeypadModifier)) break;
      pinCurrent((event->modifiers() & Qt::ShiftModifier) != 0);
      return;
    case Qt::Key_Return:
    case Qt::Key_Enter:
    case Qt::Key_Space:
      if (const int index = currentPicture(); index >= 0) Q_EMIT frameActivated(pictureTimes()[static_cast<std::size_t>(index)], index);
      return;
    default: break;
  }
  QWidget::keyPressEvent(event);
}

bool FrameStrip::event(QEvent* event) {
  if (event->type() == QEvent::Leave && m_hoveredPicture >= 0) {
    m_hoveredPicture = -1;
    update();
  }
  return QWidget::event(event);
}

void FrameStrip::focusInEvent(QFocusEvent* event) {
  QWidget::focusInEvent(event);
  update();
}

void FrameStrip::focusOutEvent(QFocusEvent* event) {
  QWidget::focusOutEvent(event);
  update();
}

}  // namespace winnow::ui
