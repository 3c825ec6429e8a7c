#include "ui/chat_view/formula/formula_box.h"

#include <QPainter>
#include <QPainterPathStroker>
#include <algorithm>
#include <cmath>

namespace winnow::ui {
namespace {

QPainterPath stroke(const QPainterPath& path, qreal thickness) {
  QPainterPathStroker stroker;
  stroker.setWidth(thickness);
  stroker.setJoinStyle(Qt::MiterJoin);
  return stroker.createStroke(path);
}

QPainterPath line(std::initializer_list<QPointF> points) {
  QPainterPath path(*points.begin());
  for (const QPointF& point : points) path.lineTo(point);
  return path;
}

}  // namespace

void FormulaBox::take(FormulaBox box, qreal x, qreal y) {
  ascent = std::max(ascent, box.ascent - y);
  descent = std::max(descent, box.descent + y);
  for (FormulaPiece& piece : box.pieces) {
    piece.at += QPointF(x, y);
    pieces.push_back(std::move(piece));
  }
}

void FormulaBox::draw(QPainter& painter, const QPointF& baseline, const QColor& colour) const {
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(colour);
  for (const FormulaPiece& piece : pieces) {
    const QPointF at = baseline + piece.at;
    if (piece.outline.isEmpty()) {
      painter.setFont(piece.font);
      painter.drawText(at, piece.text);
    } else if (piece.rule) {
      const QTransform device = painter.deviceTransform();
      QRectF rect = device.mapRect(piece.outline.boundingRect().translated(at));
      if (rect.width() > rect.height())
        rect = QRectF(rect.left(), std::round(rect.top()), rect.width(), std::max(1.0, std::round(rect.height())));
      else
        rect = QRectF(std::round(rect.left()), rect.top(), std::max(1.0, std::round(rect.width())), rect.height());
      painter.fillRect(device.inverted().mapRect(rect), colour);
    } else {
      painter.fillPath(piece.outline.translated(at), colour);
    }
  }
  painter.restore();
}

FormulaBox outlineBox(const QPainterPath& outline) {
  const QRectF rect = outline.boundingRect();
  return {rect.right(), -rect.top(), rect.bottom(), 0.0, {{{}, {}, {}, outline}}};
}

FormulaBox ruleBox(const QRectF& rect) {
  QPainterPath outline;
  outline.addRect(rect);
  return {rect.width(), -rect.top(), rect.bottom(), 0.0, {{{}, {}, {}, outline, true}}};
}

FormulaBox accentBox(const QString& command, qreal width, qreal em, qreal thickness) {
  const qreal high = std::min(0.16 * em + 0.04 * width, 0.3 * em), head = 0.14 * em, middle = 0.1 * em;
  if (command == u"widehat") return outlineBox(stroke(line({{0, 0}, {width / 2, -high}, {width, 0}}), thickness));
  if (command == u"widetilde") {
    QPainterPath wave;
    wave.cubicTo(width * 0.25, -high * 1.6, width * 0.6, high * 0.4, width, -high * 0.8);
    return outlineBox(stroke(wave, thickness * 1.2));
  }
  if (command != u"vec" && !command.endsWith(u"arrow")) return ruleBox(QRectF(0, -thickness, width, thickness));
  QPainterPath arrow = stroke(line({{0, -middle}, {width, -middle}}), thickness) +
                       stroke(line({{width - head, -2 * middle}, {width, -middle}, {width - head, 0}}), thickness);
  arrow.setFillRule(Qt::WindingFill);
  return outlineBox(command == u"leftarrow" ? QTransform(-1, 0, 0, 1, width, 0).map(arrow) : arrow);
}

}  // namespace winnow::ui
