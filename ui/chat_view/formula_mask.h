// Formulas in Markdown: found before Markdown is read, so that it takes neither backslashes nor signs from them.
//
// Used by markdown_parser.h. Known are $…$, $$…$$, \(…\), \[…\] and \begin{…}…\end{…}, but not in code and not where a $ is a price. Each
// is replaced by two characters that Markdown passes on, and told again as it was written; formula/formula_layout.h sets it. Spaces as
// LaTeX writes them (\, \; \:) keep their backslash everywhere. Linear in the text. Any thread.
#pragma once

#include <QString>
#include <vector>

namespace winnow::ui {

struct Block;

struct MaskedText {
  QString text;                   // with a stand-in for each formula
  std::vector<QString> formulas;  // with their marks
};

MaskedText maskFormulas(QStringView source);

// A part of a text that may hold stand-ins.
struct UnmaskedPart {
  QString text;
  bool formula = false;
};
std::vector<UnmaskedPart> unmask(QStringView text, const std::vector<QString>& formulas);

// Appends a paragraph, with each of its formulas that stand on lines of their own as a block by itself. Other blocks stay whole.
void splitAtFormulas(Block block, std::vector<Block>& blocks);

}  // namespace winnow::ui
