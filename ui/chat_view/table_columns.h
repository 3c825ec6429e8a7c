// How wide the columns of a table are: no word and no number is broken, and what does not fit then is scrolled sideways.
//
// Used by block_document.h. Widths in logical pixels, of what a cell holds and of its padding. UI thread only (fonts).
#pragma once

#include <QTextTable>
#include <vector>

#include "ui/chat_view/markdown_parser.h"

namespace winnow::ui {

class TableColumns {
 public:
  // Borrows the table, which was made of the block. padding: on each side of a cell.
  TableColumns(QTextTable* table, const Block& block, qreal padding);

  // That the table takes where there is room for so much.
  qreal widthWithin(qreal available) const;
  void setWidth(qreal width);

 private:
  QTextTable* m_table;
  std::vector<qreal> m_word;  // per column: the longest word
  std::vector<qreal> m_line;  // and the longest line
};

}  // namespace winnow::ui
