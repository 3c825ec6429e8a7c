#include "ui/theme/drawn_boxes.h"

#include <QFontMetricsF>
#include <QPainter>
#include <algorithm>
#include <array>

#include "ui/theme/theme.h"

namespace winnow::ui {

void paintBoxes(QPainter& painter, const QRectF& picture, const std::vector<DrawnBox>& boxes) {
  const Colors& c = theme().colors();
  const std::array colours = {c.chartVisual, c.chartText, c.chartWritten, c.chartImage, c.danger};
  const QFont font = theme().font(TextRole::kCaptionStrong);
  const QFontMetricsF metrics(font);
  painter.save();
  painter.setClipRect(picture, Qt::IntersectClip);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setFont(font);
  for (const DrawnBox& box : boxes) {
    const QColor colour = colours[static_cast<std::size_t>(box.colour) % colours.size()];
    const QColor against = qGray(colour.rgb()) > 128 ? Qt::black : Qt::white;
    QRectF place(picture.left() + box.place.left() * picture.width(), picture.top() + box.place.top() * picture.height(),
                 box.place.width() * picture.width(), box.place.height() * picture.height());
    const bool point = box.place.isEmpty();
    const qreal radius = theme().px(6);
    if (point) place.adjust(-radius, -radius, radius, radius);
    for (const auto& [line, width] : {std::pair(against, theme().px(4)), std::pair(colour, theme().px(2))}) {
      painter.setPen(QPen(line, width));
      painter.setBrush(point ? QBrush(colour) : QBrush(Qt::NoBrush));
      point ? painter.drawEllipse(place) : painter.drawRect(place);
    }
    if (box.label.isEmpty()) continue;
    // Above the box, or within it at the picture's edge; beside a point.
    const qreal pad = theme().px(4);
    const QString label = metrics.elidedText(box.label, Qt::ElideRight, picture.width() - 2 * pad);
    QRectF chip(place.left(), place.top() - metrics.height(), metrics.horizontalAdvance(label) + 2 * pad, metrics.height());
    if (point) chip.moveTopLeft({place.right() + pad / 2, place.center().y() - chip.height() / 2});
    if (chip.top() < picture.top()) chip.moveTop(place.top());
    chip.moveLeft(std::max(picture.left(), std::min(chip.left(), picture.right() - chip.width())));
    painter.fillRect(chip, colour);
    painter.setPen(against);
    painter.drawText(chip, Qt::AlignCenter | Qt::TextSingleLine, label);
  }
  painter.restore();
}

}  // namespace winnow::ui
