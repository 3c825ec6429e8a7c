#include "ui/composer/drop_mark.h"

#include <QEvent>
#include <QPainter>

#include "ui/theme/theme.h"

namespace winnow::ui {

DropMark::DropMark(QWidget* parent) : QWidget(parent) {
  setAttribute(Qt::WA_TransparentForMouseEvents);
  setAccessibleName(tr("Drop here to attach"));
  parent->installEventFilter(this);
  setGeometry(parent->rect());
  hide();
}

bool DropMark::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::Resize) setGeometry(parentWidget()->rect());
  return QWidget::eventFilter(watched, event);
}

void DropMark::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const Colors& c = theme().colors();
  painter.setBrush(c.accentSoft);
  painter.setPen(QPen(c.accent, theme().px(2), Qt::DashLine));
  const qreal inset = theme().px(2);
  painter.drawRoundedRect(QRectF(rect()).adjusted(inset, inset, -inset, -inset), theme().px(16), theme().px(16));
  painter.setPen(c.text);
  painter.setFont(theme().font(TextRole::kStrong));
  painter.drawText(rect().adjusted(theme().px(12), 0, -theme().px(12), 0), Qt::AlignCenter | Qt::TextWordWrap,
                   tr("Drop here to attach: images, videos, documents, or a folder of them"));
}

}  // namespace winnow::ui
