// A formula as it is drawn: signs, rules and outlines at their places.
//
// Made by formula_layout.h of what formula_font.h measures. Logical pixels; y is negative above the baseline. UI thread only.
#pragma once

#include <QFont>
#include <QPainterPath>
#include <QString>
#include <vector>

class QColor;
class QPainter;

namespace winnow::ui {

struct FormulaPiece {
  QPointF at;  // of a text: where its baseline begins
  QString text;
  QFont font;
  QPainterPath outline{};  // filled
  bool rule = false;       // the outline is a rectangle that keeps to whole pixels
};

struct FormulaBox {
  qreal width = 0.0;
  qreal ascent = 0.0;
  qreal descent = 0.0;
  qreal italic = 0.0;  // how far the last sign leans to the right, within the width
  std::vector<FormulaPiece> pieces{};

  // Takes what another one has, its baseline's beginning at (x, y). The width stays.
  void take(FormulaBox box, qreal x, qreal y = 0.0);
  void draw(QPainter& painter, const QPointF& baseline, const QColor& colour) const;
};

// Outlines as boxes as wide as they reach. thickness: of a stroke.
FormulaBox ruleBox(const QRectF& rect);
FormulaBox outlineBox(const QPainterPath& outline);
FormulaBox accentBox(const QString& command, qreal width, qreal em, qreal thickness);

}  // namespace winnow::ui
