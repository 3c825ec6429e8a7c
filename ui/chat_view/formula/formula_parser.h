// Reads a formula: LaTeX's common commands, those that answers are written with.
//
// Used by formula_layout.h. What it does not know, it refuses as a whole, so that nothing is shown that was not meant. Colours, labels and
// numbers of equations are passed over. Linear in the text; length, depth and size are bounded. Throws nothing. Any thread.
#pragma once

#include <QString>
#include <optional>

#include "ui/chat_view/formula/formula_node.h"

namespace winnow::ui {

inline constexpr qsizetype kLongestFormula = 4000;
inline constexpr int kDeepestFormula = 40;

// source: with its marks: $…$, $$…$$, \(…\), \[…\] or \begin{…}…\end{…}.
std::optional<FormulaNode> parseFormula(QStringView source);
// True if its marks put it on a line of its own.
bool isDisplayFormula(QStringView source);

}  // namespace winnow::ui
