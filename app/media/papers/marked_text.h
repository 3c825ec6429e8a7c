// Plain text out of a marked-up document: what its marks mean to a reader, whatever format they come from.
//
// Used by the readers of office files, books, web pages and mail. A paragraph is a line; a heading begins with "#" by its level, an item of
// a list with "-"; a row of a table is a line whose cells are parted by "|". Space is one space, except where it is kept. What comes behind
// kDocumentBytes is left out. Pure.
#pragma once

#include <QString>
#include <QStringView>
#include <string>

namespace winnow::app {

enum class Mark : int {
  kNone = 1,  // what is inside counts, the mark does not
  kSkip,      // nothing of it is words
  kBlock,     // a paragraph
  kHeading,
  kItem,
  kRow,
  kCell,
  kBreak,
  kSpace,
  kKeep,  // a block whose spaces and ends of lines count
};

class MarkedText {
 public:
  // level: of a heading, from 1.
  void begin(Mark mark, int level = 1);
  void end(Mark mark);
  void addWords(QStringView words);

  bool isFull() const;  // words were left out
  std::string taken() const { return m_text.toStdString(); }

 private:
  void endLine();

  QString m_text;
  QString m_line;
  QString m_prefix;  // of the line: "# ", "- "
  int m_rows = 0;    // that are open, one within the other
  int m_cells = 0;   // of the outermost row, so far
  int m_kept = 0;
  bool m_left_out = false;
};

}  // namespace winnow::app
