#include "ui/composer/drop_mark.h"

#include <QDragEnterEvent>
#include <QMimeData>
#include <QPainter>

#include "ui/composer/composer.h"
#include "ui/composer/offered_content.h"
#include "ui/theme/theme.h"

namespace winnow::ui {

DropMark::DropMark(Composer& composer) : QWidget(&composer) {
  setAttribute(Qt::WA_TransparentForMouseEvents);
  setAccessibleName(tr("Drop here to attach"));
  composer.installEventFilter(this);
  composer.prompt()->viewport()->installEventFilter(this);  // takes drops itself
  setGeometry(composer.rect());
  hide();
}

void DropMark::mark(const QMimeData* dragged) {
  const OfferedKind kind = dragged == nullptr ? OfferedKind::kNothing : contentOf(*dragged).kind;
  const bool attaches = kind == OfferedKind::kFiles || kind == OfferedKind::kPicture;
  setVisible(attaches);
  if (attaches) raise();
}

bool DropMark::eventFilter(QObject* watched, QEvent* event) {
  if (watched == parentWidget()) {
    if (event->type() == QEvent::Resize) setGeometry(parentWidget()->rect());
  } else if (event->type() == QEvent::DragEnter) {
    mark(static_cast<QDragEnterEvent*>(event)->mimeData());
  } else if (event->type() == QEvent::DragLeave || event->type() == QEvent::Drop) {
    mark(nullptr);
  }
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
                   tr("Drop here to attach: images, videos, sound, documents, or a folder of them"));
}

}  // namespace winnow::ui
