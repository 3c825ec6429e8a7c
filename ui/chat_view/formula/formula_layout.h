// Sets a formula as TeX does: The TeXbook, appendix G, with the parameters of Computer Modern.
//
// Used by document_formulas.h. The time is linear in the formula's length times its depth; both are bounded (formula_parser.h). UI thread
// only.
#pragma once

#include <optional>

#include "ui/chat_view/formula/formula_box.h"

class QFont;

namespace winnow::ui {

// source: with its marks. text: the font around it. None: it cannot be set, and its source is to be shown.
std::optional<FormulaBox> setFormula(QStringView source, const QFont& text);

}  // namespace winnow::ui
