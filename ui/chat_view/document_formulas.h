// The formulas of one document: objects within its text that are one character long, drawn as formulas and told as their source.
//
// Used by block_document.h; what sets them is formula/formula_layout.h. Positions are the document's; "told" is its text with each
// formula's source in the formula's place. Widths are logical pixels. UI thread only.
#pragma once

#include <QObject>
#include <QTextCursor>
#include <QTextObjectInterface>
#include <vector>

#include "ui/chat_view/formula/formula_box.h"

class QTextBlock;

namespace winnow::ui {

class DocumentFormulas : public QObject, public QTextObjectInterface {
  Q_OBJECT
  Q_INTERFACES(QTextObjectInterface)

 public:
  // Borrows the document. Its text is only ever added to behind the last formula.
  explicit DocumentFormulas(QTextDocument& document);

  // Inserts a formula that looks as text of the format would. False, and nothing inserted: it cannot be set.
  bool insert(QTextCursor& cursor, const QString& source, const QTextCharFormat& format);
  // Makes those that are too wide for a column smaller, down to 60 %; returns the width of the widest that is too wide even so, else 0.
  qreal fitInto(qreal width);
  bool isWiderThan(qreal width, const QTextBlock& block) const;

  // text: of the document, from the position on.
  QString told(const QString& text, int from) const;
  int positionOf(qsizetype toldAt) const;
  QString sourceAt(int position) const;  // empty: there is none

  QSizeF intrinsicSize(QTextDocument* document, int position, const QTextFormat& format) override;
  void drawObject(QPainter* painter, const QRectF& rect, QTextDocument* document, int position, const QTextFormat& format) override;

 private:
  struct Placed {
    int position = 0;
    qsizetype toldAt = 0;
    QString source;
    FormulaBox box;
    qreal scale = 1.0;
  };
  const Placed& placed(const QTextFormat& format) const;
  qreal rightEdge(const Placed& formula) const;

  QTextDocument& m_document;
  std::vector<Placed> m_placed;  // ascending
};

}  // namespace winnow::ui
