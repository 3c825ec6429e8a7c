#include "ui/theme/popup_card.h"

#include <QBitmap>
#include <QPainter>
#include <QScreen>
#include <QScrollArea>
#include <QScrollBar>
#include <QStyle>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "ui/theme/dialog_page.h"
#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {
constexpr int kFramePx = 1;
constexpr int kGapUnits = 6;  // between it and its control, and the edge of the screen

QBitmap roundedMask(const QSize& size, qreal radius) {
  QBitmap mask(size);
  mask.fill(Qt::color0);
  QPainter painter(&mask);
  painter.setPen(Qt::NoPen);
  painter.setBrush(Qt::color1);
  painter.drawRoundedRect(QRectF(QPointF(0, 0), size), radius, radius);
  return mask;
}

}  // namespace

PopupCard::PopupCard(QWidget& anchor, int widthUnits) : QFrame(&anchor, Qt::Popup), m_anchor(anchor), m_widthUnits(widthUnits) {
  setContentsMargins(kFramePx, kFramePx, kFramePx, kFramePx);
  auto* page = new QWidget;
  m_content = new QVBoxLayout(page);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins({});
  QScrollArea* scroll = scrolling(page);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  layout->addWidget(scroll);
  connect(&theme(), &Theme::changed, this, [this] {
    if (isVisible()) place();
  });
}

void PopupCard::open(QWidget& first) {
  m_before = m_anchor.window()->focusWidget();
  place();
  show();
  first.setFocus(Qt::PopupFocusReason);
}

void PopupCard::place() {
  const int edge = theme().px(kGapUnits);
  const QRect room = m_anchor.screen()->availableGeometry().adjusted(edge, edge, -edge, -edge);
  const int frame = 2 * kFramePx;
  m_content->activate();
  int width = std::min({theme().px(m_widthUnits), m_anchor.window()->width() - theme().px(16), room.width()});
  width = std::min(room.width(), std::max(width, m_content->totalMinimumSize().width() + frame));
  // Wrapped text: the height follows from the width.
  const int wanted = m_content->totalHeightForWidth(width - frame) + frame;
  const int height = std::min(wanted, room.height());
  if (height < wanted) width = std::min(room.width(), width + style()->pixelMetric(QStyle::PM_ScrollBarExtent));
  setFixedSize(width, height);
  // Masks, since without a compositor nothing shines through a window; the page's leaves the frame's corners free.
  setMask(roundedMask(size(), theme().cornerRadius()));
  layout()->activate();
  // Hidden, the page has the size that it had the last time.
  const QSize inside = size() - QSize(frame, frame);
  if (auto* page = findChild<QScrollArea*>()) page->setMask(roundedMask(inside, theme().cornerRadius() - kFramePx));
  const QPoint above = m_anchor.mapToGlobal(QPoint(0, -height - theme().px(kGapUnits)));
  const int below = m_anchor.mapToGlobal(QPoint(0, m_anchor.height() + theme().px(kGapUnits))).y();
  const int bottom = room.bottom() + 1 - height;
  const int y = above.y() < room.top() && below <= bottom ? below : above.y();
  move(std::clamp(above.x(), room.left(), room.right() + 1 - width), std::clamp(y, room.top(), bottom));
}

void PopupCard::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const Colors& c = theme().colors();
  painter.fillRect(rect(), c.strongBorder);  // behind the edge of the mask, which is not smooth
  painter.setPen(Qt::NoPen);
  painter.setBrush(c.surface);
  painter.drawRoundedRect(QRectF(rect()).adjusted(kFramePx, kFramePx, -kFramePx, -kFramePx), theme().cornerRadius(),
                          theme().cornerRadius());
}

void PopupCard::hideEvent(QHideEvent* event) {
  QFrame::hideEvent(event);
  // A popup that had the focus leaves it to nobody.
  if (m_before) std::exchange(m_before, nullptr)->setFocus(Qt::PopupFocusReason);
}

}  // namespace winnow::ui
