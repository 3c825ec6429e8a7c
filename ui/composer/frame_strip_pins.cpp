// The strip's marks: pins, how they are drawn, their menu, the current frame that keys work on, and bars for what a cache keeps.
#include <QContextMenuEvent>
#include <QMenu>
#include <QPainter>
#include <algorithm>

#include "app/words/format_text.h"
#include "ui/composer/frame_pins.h"
#include "ui/composer/frame_strip.h"
#include "ui/theme/icons.h"
#include "ui/theme/theme.h"

namespace winnow::ui {

void FrameStrip::setPins(FramePins* pins) {
  m_pins = pins;
  m_pins->setFrames(pictureTimes(), m_durationS);
  setToolTip(tr("Click a picture to enlarge it. Press P or use the menu to pin it, so that every method keeps it."));
  connect(m_pins, &FramePins::shown, this, [this] {
    describe();
    update();
  });
}

void FrameStrip::setSampledPins(const app::PinnedRanges& ranges) {
  m_sampledPins = ranges;
  update();
}

int FrameStrip::currentPicture() const {
  const int count = static_cast<int>(m_pictures.size());
  if (count == 0) return -1;
  if (m_active == Grip::kFrame) return std::clamp(m_current, 0, count - 1);
  const double at = m_active == Grip::kTo ? m_toS : m_fromS;
  return m_durationS > 0 ? std::clamp(static_cast<int>(at / m_durationS * count), 0, count - 1) : -1;
}

void FrameStrip::makeCurrent(int index) {
  m_active = Grip::kFrame;
  m_current = std::clamp(index, 0, std::max(0, static_cast<int>(m_pictures.size()) - 1));
  describe();
  update();
}

void FrameStrip::pinCurrent(bool fromAnchor) {
  const int index = currentPicture();
  if (m_pins == nullptr || index < 0) return;
  fromAnchor ? m_pins->pinThrough(index) : m_pins->toggle(index);
}

QString FrameStrip::pinnedText() const {
  if (m_pins == nullptr || !m_pins->any()) return {};
  QStringList ranges;
  for (const app::PinnedRange& range : m_pins->ranges())
    ranges << QStringLiteral("%1–%2").arg(app::formatClock(range.fromS), app::formatClock(range.toS));
  return tr("Pinned: %1.").arg(ranges.join(QStringLiteral(", ")));
}

void FrameStrip::setKept(std::vector<KeptFrame> frames) {
  m_kept = std::move(frames);
  setToolTip(keptText());
  describe();
  update();
}

QString FrameStrip::keptText() const {
  const auto most = std::ranges::max_element(m_kept, {}, &KeptFrame::share);
  if (most == m_kept.end()) return {};
  return tr("Bars: what the last answer’s cache keeps of each frame, most at %1 (%2).")
      .arg(app::formatClock(most->seconds), app::formatShare(most->share));
}

void FrameStrip::paintKept(QPainter& painter, const QRectF& track) const {
  double most = 0;
  for (const KeptFrame& frame : m_kept) most = std::max(most, frame.share);
  const qreal height = theme().px(14);
  for (std::size_t i = 0; i < m_kept.size() && most > 0; ++i) {
    const double from = i == 0 ? m_kept[i].seconds : (m_kept[i - 1].seconds + m_kept[i].seconds) / 2;
    const double to = i + 1 == m_kept.size() ? m_kept[i].seconds : (m_kept[i].seconds + m_kept[i + 1].seconds) / 2;
    // White on a dark band: both show on a picture of any colour.
    const QRectF room(xOf(from), track.bottom() - height, std::max<qreal>(2, xOf(to) - xOf(from)), height);
    painter.fillRect(room, QColor(0, 0, 0, 150));
    painter.fillRect(room.adjusted(0, height * (1 - m_kept[i].share / most), -1, 0), QColor(255, 255, 255, 225));
  }
}

void FrameStrip::paintPins(QPainter& painter, const QRectF& track) const {
  if (m_pins == nullptr) return;
  const Colors& c = theme().colors();
  const qreal badge = theme().px(18);
  for (const app::PinnedRange& range : m_pins->ranges()) {
    const qreal left = xOf(std::max(0.0, range.fromS));
    const qreal right = xOf(std::min(m_durationS, range.toS));
    const QRectF frame = QRectF(left, track.top(), std::max<qreal>(right - left, badge), track.height()).adjusted(1.5, 1.5, -1.5, -1.5);
    // Two strokes, dark and light: one of them shows on every picture.
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(QColor(0, 0, 0, 190), theme().px(4)));
    painter.drawRoundedRect(frame, theme().px(3), theme().px(3));
    painter.setPen(QPen(QColor(255, 255, 255), theme().px(2)));
    painter.drawRoundedRect(frame, theme().px(3), theme().px(3));
    const QRectF circle(frame.left() + theme().px(3), frame.top() + theme().px(3), badge, badge);
    painter.setPen(QPen(QColor(255, 255, 255), 1.2));
    painter.setBrush(c.accent);
    painter.drawEllipse(circle);
    const qreal inset = badge * 0.18;
    paintGlyph(painter, Glyph::kPin, circle.adjusted(inset, inset, -inset, -inset), c.onAccent);
  }
}

void FrameStrip::contextMenuEvent(QContextMenuEvent* event) {
  if (m_pins == nullptr || m_durationS <= 0) return;
  QPoint place = event->globalPos();
  if (event->reason() == QContextMenuEvent::Mouse) {
    for (std::size_t i = 0; i < m_pictures.size(); ++i) {
      if (pictureRect(static_cast<int>(i)).contains(event->pos())) makeCurrent(static_cast<int>(i));
    }
  } else {
    const QRectF current = pictureRect(std::max(0, currentPicture()));
    place = mapToGlobal(current.center().toPoint());
  }
  const int index = currentPicture();
  if (index < 0) return;
  auto* menu = new QMenu(this);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  const QString time = app::formatClock(pictureTimes()[static_cast<std::size_t>(index)]);
  const bool pinned = m_pins->isPinned(index);
  menu->addAction(icon(Glyph::kPin), pinned ? tr("Unpin %1").arg(time) : tr("Pin %1: always keep it").arg(time), Qt::Key_P, this,
                  [this] { pinCurrent(false); });
  menu->addAction(tr("Pin from the last pinned frame to %1").arg(time), Qt::SHIFT | Qt::Key_P, this, [this] { pinCurrent(true); })
      ->setEnabled(m_pins->hasAnchor());
  menu->addAction(tr("Unpin all"), this, [this] { m_pins->clear(); })->setEnabled(m_pins->any());
  menu->addSeparator();
  menu->addAction(tr("Enlarge %1").arg(time), Qt::Key_Return, this,
                  [this, index] { Q_EMIT frameActivated(pictureTimes()[static_cast<std::size_t>(index)], index); });
  menu->popup(place);
}

}  // namespace winnow::ui
