// Lines of pages as a reader means them: without what a typesetter added to them.
//
// Used by pdf_text.h. Letters that are drawn as one are letters again (ligatures), a word that is parted at the end of a line is one word,
// and lines that stand at the top or bottom of most pages (headers, footers, page numbers) are left out. Pure.
#pragma once

#include <QString>
#include <QStringList>
#include <vector>

namespace winnow::app {

// PDFium's mark for a hyphen at the end of a line, whose end it leaves out.
inline constexpr QChar kLineHyphen = QChar(0xFFFE);

// Ligatures as letters, odd spaces as spaces, without soft hyphens and control characters.
QString plainLetters(QStringView text);

// Right-to-left words whose letters stand in the order in which they are drawn, from the left.
enum class DrawnOrder : int {
  kLogical = 1,  // nothing does
  kLetters,      // the letters of each word
  kLine,         // the words of each line, too
};
// A line in logical order; numbers and Latin words keep theirs.
QString logicalLine(QStringView line, DrawnOrder drawn);
inline bool isRightToLeft(QChar c) { return c.direction() == QChar::DirR || c.direction() == QChar::DirAL; }

// The lines of a page. A hyphen that kLineHyphen stands for, or that ends a line before a small letter, stays if the document has the
// word with it elsewhere within a line; otherwise the word is joined. Either way the rest of the line moves to the next.
void joinHyphens(std::vector<QStringList>& pages);

// Returns how many lines were left out. Pages of which fewer than three have text keep all, and so does one that has no other lines.
int leaveOutMargins(std::vector<QStringList>& pages);

}  // namespace winnow::app
