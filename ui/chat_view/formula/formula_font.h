// The font of formulas: a font for mathematics if one is installed, else a serif one.
//
// Used by formula_layout.h. Measures are in em. UI thread only.
#pragma once

#include <QFont>
#include <QString>
#include <optional>

#include "ui/chat_view/formula/formula_box.h"
#include "ui/chat_view/formula/formula_node.h"

namespace winnow::ui {

class FormulaFont {
 public:
  // Signs look as large as the text's.
  explicit FormulaFont(const QFont& text);

  qreal em() const { return m_em; }  // logical pixels, of what is no script
  qreal axis() const { return m_axis; }
  qreal rule() const { return m_rule; }
  qreal xHeight() const { return m_xHeight; }
  // size: in em(). None: no font here has the signs.
  std::optional<FormulaBox> sign(const QString& text, Face face, qreal size) const;
  // A bracket or a root drawn out to a height, from (0, -height) to (width, 0): the font's own with its halves moved apart.
  QPainterPath drawnOut(QChar sign, qreal height, qreal size) const;

 private:
  qreal m_points = 0.0;
  qreal m_em = 0.0;
  qreal m_axis = 0.25;
  qreal m_rule = 0.04;
  qreal m_xHeight = 0.43;
};

}  // namespace winnow::ui
