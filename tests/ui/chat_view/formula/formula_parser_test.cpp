#include "ui/chat_view/formula/formula_parser.h"

#include <gtest/gtest.h>

#include <QRandomGenerator>
#include <QStringList>

namespace winnow::ui {
namespace {

using Kind = FormulaNode::Kind;

TEST(FormulaParser, KnowsClassesOfSigns) {
  const auto formula = parseFormula(QStringLiteral("$a+b\\leq(c),\\sum\\ldots$"));
  ASSERT_TRUE(formula);
  std::vector<Atom> atoms;
  for (const FormulaNode& node : formula->parts) atoms.push_back(node.atom);
  EXPECT_EQ(atoms, (std::vector<Atom>{Atom::kOrdinary, Atom::kBinary, Atom::kOrdinary, Atom::kRelation, Atom::kOpen, Atom::kOrdinary,
                                      Atom::kClose, Atom::kPunctuation, Atom::kOperator, Atom::kInner}));
}

TEST(FormulaParser, TakesScriptsInEitherOrder) {
  for (const char* source : {"$x_i^2$", "$x^2_i$", "$x_{i}^{2}$", "$ x _ i ^ 2 $"}) {
    const auto formula = parseFormula(QString::fromLatin1(source));
    ASSERT_TRUE(formula && formula->parts.size() == 1) << source;
    const FormulaNode& scripts = formula->parts[0];
    ASSERT_EQ(scripts.kind, Kind::kScripts) << source;
    EXPECT_FALSE(scripts.parts[1].isEmpty() || scripts.parts[2].isEmpty()) << source;
  }
}

TEST(FormulaParser, ArgumentsNeedNoBraces) {
  const auto formula = parseFormula(QStringLiteral("$\\frac12$"));
  ASSERT_TRUE(formula);
  EXPECT_EQ(formula->parts[0].parts[0].text, QStringLiteral("1"));
  EXPECT_EQ(formula->parts[0].parts[1].text, QStringLiteral("2"));
}

TEST(FormulaParser, DigitsAreOneNumber) {
  const auto formula = parseFormula(QStringLiteral("$3.14x$"));
  ASSERT_TRUE(formula && formula->parts.size() == 2);
  EXPECT_EQ(formula->parts[0].text, QStringLiteral("3.14"));
}

TEST(FormulaParser, DotsStandInTheMiddleBetweenOperations) {
  EXPECT_EQ(parseFormula(QStringLiteral("$a + \\dots + b$"))->parts[2].text, QStringLiteral("⋯"));
  EXPECT_EQ(parseFormula(QStringLiteral("$a \\times \\dots \\times b$"))->parts[2].text, QStringLiteral("⋯"));
  EXPECT_EQ(parseFormula(QStringLiteral("$a, \\dots, b$"))->parts[2].text, QStringLiteral("…"));
}

TEST(FormulaParser, AnEnvironmentHasRowsAndCells) {
  const auto formula = parseFormula(QStringLiteral("\\begin{pmatrix} a & b \\\\ c & d \\\\ \\end{pmatrix}"));
  ASSERT_TRUE(formula && formula->parts.size() == 1);
  const FormulaNode& matrix = formula->parts[0];
  EXPECT_EQ(matrix.kind, Kind::kArray);
  EXPECT_EQ(matrix.fences, QStringLiteral("()"));
  ASSERT_EQ(matrix.parts.size(), 2u) << "an empty last row is none";
  EXPECT_EQ(matrix.parts[1].parts.size(), 2u);
}

TEST(FormulaParser, ColoursAndTagsAreNotShown) {
  const auto formula = parseFormula(QStringLiteral("$$\\color{red} x \\tag{1}\\label{eq}$$"));
  ASSERT_TRUE(formula);
  for (const FormulaNode& node : formula->parts) EXPECT_TRUE(node.kind == Kind::kSpace || node.text == QStringLiteral("x"));
}

// Anything that is not understood to its end is refused: the source is shown instead.
TEST(FormulaParser, RefusesWhatItDoesNotKnow) {
  for (const char* source : {"$\\foo$",
                             "$x^$",
                             "$x^a^b$",
                             "$x_a_b$",
                             "$\\frac{1}$",
                             "${$",
                             "$}$",
                             "$a & b$",
                             "$\\left( x$",
                             "$\\right)$",
                             "$\\left( x \\right$",
                             "$\\begin{tabular}{c} x \\end{tabular}$",
                             "$\\begin{matrix} x \\end{pmatrix}$",
                             "$\\begin{matrix} x$",
                             "$\\phantom{x}$",
                             "$50%$",
                             "$\\sqrt[3$",
                             "$\\text{a$",
                             "$\\text{\\foo}$",
                             "$\\begin{array}{q} x \\end{array}$",
                             "$\\not x$",
                             "$ $",
                             "$$",
                             "$",
                             "",
                             "$\\$",
                             "$\\left\\alpha x \\right)$",
                             "$#$",
                             "$`$",
                             "$´$",
                             "$\\text$"})
    EXPECT_FALSE(parseFormula(QString::fromUtf8(source))) << source;
}

TEST(FormulaParser, BoundsDepthAndLength) {
  const auto nested = [](const QString& open, int depth, const QString& close) {
    return QStringLiteral("$$") + open.repeated(depth) + QLatin1Char('x') + close.repeated(depth) + QStringLiteral("$$");
  };
  EXPECT_TRUE(parseFormula(nested(QStringLiteral("{"), 30, QStringLiteral("}"))));
  for (const int depth : {kDeepestFormula + 1, 1000, 10000}) {
    EXPECT_FALSE(parseFormula(nested(QStringLiteral("{"), depth, QStringLiteral("}")))) << depth;
    EXPECT_FALSE(parseFormula(nested(QStringLiteral("\\sqrt{"), depth, QStringLiteral("}")))) << depth;
    EXPECT_FALSE(parseFormula(nested(QStringLiteral("\\sqrt"), depth, QString()))) << depth;
    EXPECT_FALSE(parseFormula(nested(QStringLiteral("\\left("), depth, QStringLiteral("\\right)")))) << depth;
    EXPECT_FALSE(parseFormula(nested(QStringLiteral("\\begin{matrix}"), depth, QStringLiteral("\\end{matrix}")))) << depth;
    EXPECT_FALSE(parseFormula(nested(QStringLiteral("x^"), depth, QString()))) << depth;
  }
  EXPECT_FALSE(parseFormula(nested(QStringLiteral("x+"), 50000, QString()))) << "100 kB";
}

TEST(FormulaParser, EndsWithAnyInput) {
  const QStringList tokens = {"\\frac",
                              "\\sqrt",
                              "[",
                              "]",
                              "{",
                              "}",
                              "^",
                              "_",
                              "&",
                              "\\\\",
                              "\\left",
                              "\\right",
                              "(",
                              ")",
                              "\\begin{matrix}",
                              "\\end{matrix}",
                              "x",
                              "12",
                              "'",
                              "\\text{a}",
                              "\\not",
                              "\\middle",
                              "|",
                              "\\hat",
                              " ",
                              "\\",
                              "\\limits",
                              "\\sum",
                              "\\rm",
                              "\\big",
                              "ž",
                              "\u221e",
                              "~",
                              "\\substack"};
  QRandomGenerator random(66);
  int understood = 0;
  for (int i = 0; i < 20000; ++i) {
    QString source = QStringLiteral("$$");
    for (int n = random.bounded(1, 24); n > 0; --n) source += tokens[random.bounded(tokens.size())];
    understood += parseFormula(source + QStringLiteral("$$")) ? 1 : 0;
  }
  EXPECT_GT(understood, 100);
  EXPECT_LT(understood, 20000);
}

}  // namespace
}  // namespace winnow::ui
