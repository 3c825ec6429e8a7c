// Commands of LaTeX and signs of formulas: the table of resources/formulas/commands.txt.
//
// Used by formula_parser.h. Any thread.
#pragma once

#include "ui/chat_view/formula/formula_node.h"

namespace winnow::ui {

struct FormulaCommand {
  FormulaNode node{};  // without its parts
  int arguments = 0;
  enum class Reads : int {
    kFormulas = 1,
    kOption = 2,
    kWords = 3
  } reads = Reads::kFormulas;  // kOption: [one] in front, which is the last part
};

// name: without its backslash; of an environment begin- and its name. Null: unknown.
const FormulaCommand* formulaCommand(const QString& name);
// A sign that stands in the formula itself. False: nothing that a formula can hold.
bool formulaSign(const QString& sign, FormulaNode& node);
// The sign of a bracket behind \left: of a command with its backslash or of a sign; "." for none. Empty: not a bracket.
QString fenceSign(const QString& token);

}  // namespace winnow::ui
