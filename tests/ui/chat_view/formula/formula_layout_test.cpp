#include "ui/chat_view/formula/formula_layout.h"

#include <gtest/gtest.h>

#include <QFontMetricsF>
#include <QPainter>
#include <cmath>

#include "tests/ui/chat_view/formula/typical_formulas.h"
#include "ui/chat_view/formula/formula_font.h"
#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {

QFont bodyFont() { return theme().font(TextRole::kBody); }

FormulaBox setOf(const char* source) {
  const auto box = setFormula(QString::fromUtf8(source), bodyFont());
  EXPECT_TRUE(box) << source;
  return box.value_or(FormulaBox());
}

// Pieces that show the text, whichever alphabet its letters are of.
std::vector<FormulaPiece> piecesOf(const FormulaBox& box, const char* text) {
  std::vector<FormulaPiece> found;
  for (const FormulaPiece& piece : box.pieces) {
    if (piece.text.normalized(QString::NormalizationForm_KC) == QString::fromUtf8(text)) found.push_back(piece);
  }
  return found;
}

FormulaPiece pieceOf(const FormulaBox& box, const char* text) {
  const auto found = piecesOf(box, text);
  EXPECT_EQ(found.size(), 1u) << text;
  return found.empty() ? FormulaPiece() : found.front();
}

std::vector<QRectF> rulesOf(const FormulaBox& box) {
  std::vector<QRectF> rules;
  for (const FormulaPiece& piece : box.pieces) {
    if (piece.rule) rules.push_back(piece.outline.boundingRect().translated(piece.at));
  }
  return rules;
}

qreal middleOf(const FormulaPiece& piece) { return piece.at.x() + QFontMetricsF(piece.font).horizontalAdvance(piece.text) / 2; }

TEST(FormulaLayout, SuperscriptsStandHigherAndAreSmaller) {
  const FormulaBox box = setOf("$x^2$");
  const FormulaPiece base = pieceOf(box, "x"), script = pieceOf(box, "2");
  EXPECT_LT(script.at.y(), base.at.y());
  EXPECT_GT(script.at.x(), base.at.x());
  EXPECT_NEAR(script.font.pointSizeF() / base.font.pointSizeF(), 0.7, 0.01);
  EXPECT_NEAR(pieceOf(setOf("$x^{y^z}$"), "z").font.pointSizeF() / base.font.pointSizeF(), 0.5, 0.01);
  EXPECT_GT(pieceOf(setOf("$x_2$"), "2").at.y(), 0.0);
}

TEST(FormulaLayout, BothScriptsStandBelowOneAnother) {
  const FormulaBox box = setOf("$x_i^2$");
  const FormulaPiece below = pieceOf(box, "i"), above = pieceOf(box, "2");
  EXPECT_NEAR(below.at.x(), above.at.x(), 0.1 * bodyFont().pointSizeF());
  EXPECT_GT(below.at.y() - QFontMetricsF(below.font).tightBoundingRect(below.text).height(), above.at.y()) << "with room between them";
}

TEST(FormulaLayout, FractionLinesStandAtTheHeightOfAMinus) {
  const FormulaPiece sign = pieceOf(setOf("$-$"), "−");
  QPainterPath minus;
  minus.addText(sign.at, sign.font, sign.text);
  const FormulaBox box = setOf("$$\\frac{a}{b+c}$$");
  const auto rules = rulesOf(box);
  ASSERT_EQ(rules.size(), 1u);
  EXPECT_NEAR(rules[0].center().y(), minus.boundingRect().center().y(), 0.3);
  EXPECT_NEAR(middleOf(pieceOf(box, "a")), rules[0].center().x(), 1.0);
  EXPECT_LT(pieceOf(box, "a").at.y(), rules[0].top());
  EXPECT_GT(pieceOf(box, "b").at.y(), rules[0].bottom());
  EXPECT_LT(setOf("$\\frac{a}{b}$").ascent, setOf("$$\\frac{a}{b}$$").ascent) << "smaller within a text";
}

TEST(FormulaLayout, RootsEncloseWhatTheyStandOver) {
  for (const char* body : {"x", "x^2+y_i", "\\frac{a}{b}", "\\sum_{i=1}^n i"}) {
    const FormulaBox inner = setOf((std::string("$$") + body + "$$").c_str()),
                     box = setOf((std::string("$$\\sqrt{") + body + "}$$").c_str());
    const QRectF rule = rulesOf(box).back();
    EXPECT_LT(rule.bottom(), -inner.ascent * 0.99) << body;
    EXPECT_GE(rule.width(), inner.width) << body;
    EXPECT_GT(box.descent, inner.descent) << body;
  }
}

TEST(FormulaLayout, RowsAreAlignedAtTheirMarks) {
  const FormulaBox box = setOf("$$\\begin{aligned} a+b+c &= d \\\\ x &= y \\end{aligned}$$");
  const auto signs = piecesOf(box, "=");
  ASSERT_EQ(signs.size(), 2u);
  EXPECT_NEAR(signs[0].at.x(), signs[1].at.x(), 0.01);
  EXPECT_LT(signs[0].at.y(), signs[1].at.y());
  const FormulaBox matrix = setOf("$\\begin{pmatrix} 1 & 100 \\\\ 1 & 2 \\end{pmatrix}$");
  EXPECT_NEAR(middleOf(pieceOf(matrix, "100")), middleOf(pieceOf(matrix, "2")), 0.5) << "centred";
  EXPECT_NEAR(matrix.ascent - matrix.descent, 2 * FormulaFont(bodyFont()).axis() * FormulaFont(bodyFont()).em(), 0.5) << "around the axis";
}

TEST(FormulaLayout, LimitsStandAboveAndBelowInDisplayStyleOnly) {
  const FormulaBox display = setOf("$$\\sum_i^n$$"), text = setOf("$\\sum_i^n$");
  EXPECT_NEAR(middleOf(pieceOf(display, "i")), middleOf(pieceOf(display, "∑")), 1.0);
  EXPECT_LT(pieceOf(display, "n").at.y(), -FormulaFont(bodyFont()).em());
  EXPECT_GT(pieceOf(text, "i").at.x(), middleOf(pieceOf(text, "∑")));
  EXPECT_GT(pieceOf(display, "∑").font.pointSizeF(), pieceOf(text, "∑").font.pointSizeF());
  EXPECT_GT(pieceOf(setOf("$$\\int_0^1$$"), "0").at.x(), pieceOf(setOf("$$\\int_0^1$$"), "∫").at.x()) << "integrals have them beside";
}

TEST(FormulaLayout, BracketsGrowWithWhatTheyHold) {
  const FormulaBox inner = setOf("$$\\frac{a}{b}$$"), box = setOf("$$\\left(\\frac{a}{b}\\right)$$");
  EXPECT_GT(box.ascent + box.descent, 0.9 * (inner.ascent + inner.descent));
  EXPECT_EQ(setOf("$$\\left(x\\right)$$").pieces.size(), 3u) << "small ones are the font's";
  EXPECT_LT(setOf("$\\bigl(x$").ascent, setOf("$\\Biggl(x$").ascent);
}

TEST(FormulaLayout, SignsHaveSpacesByTheirClass) {
  const auto gap = [](const char* source, const char* left, const char* right) {
    const FormulaBox box = setOf(source);
    return pieceOf(box, right).at.x() - middleOf(pieceOf(box, left));
  };
  EXPECT_GT(gap("$a-b$", "−", "b"), gap("$-b$", "−", "b") + 1) << "a sign before nothing is no operation";
  EXPECT_GT(gap("$a=b$", "=", "b"), gap("$a+b$", "+", "b")) << "relations have more";
  EXPECT_GT(gap("$a+b$", "+", "b"), gap("$2^{a+b}$", "+", "b") * 1.5) << "none in scripts";
}

TEST(FormulaLayout, AccentsStandOverTheirLetters) {
  for (const char* accent : {"hat", "bar", "vec", "tilde", "dot", "ddot", "overline", "widehat", "overrightarrow", "check", "breve",
                             "acute", "grave", "mathring"}) {
    const FormulaBox plain = setOf("$x$"), box = setOf((std::string("$\\") + accent + "{x}$").c_str());
    EXPECT_GT(box.ascent, plain.ascent + 1) << accent;
    EXPECT_LT(box.ascent, 2.2 * plain.ascent) << accent << " stands close";
    EXPECT_NEAR(pieceOf(box, "x").at.y(), 0, 0.01) << accent;
  }
  EXPECT_GT(setOf("$\\underline{x}$").descent, setOf("$x$").descent);
  EXPECT_GT(setOf("$\\underbrace{x+y}_{n}$").descent, setOf("$\\underbrace{x+y}$").descent + 1);
}

TEST(FormulaLayout, GrowsWithTheText) {
  QFont large = bodyFont();
  large.setPointSizeF(large.pointSizeF() * 2);
  for (const QString& source : typicalFormulas()) {
    const auto one = setFormula(source, bodyFont()), two = setFormula(source, large);
    ASSERT_TRUE(one && two) << source.toStdString();
    EXPECT_NEAR(two->width / one->width, 2.0, 0.02) << source.toStdString();
    EXPECT_NEAR((two->ascent + two->descent) / (one->ascent + one->descent), 2.0, 0.02) << source.toStdString();
  }
}

// What a piece covers lies within its box: nothing is cut off when a line is as high as the formula.
TEST(FormulaLayout, InkStaysWithinTheBox) {
  for (const QString& source : typicalFormulas()) {
    const auto box = setFormula(source, bodyFont());
    ASSERT_TRUE(box) << source.toStdString();
    const int margin = 20;
    QImage image(static_cast<int>(std::ceil(box->width)) + 2 * margin, static_cast<int>(std::ceil(box->ascent + box->descent)) + 2 * margin,
                 QImage::Format_RGB32);
    image.fill(Qt::white);
    QPainter painter(&image);
    box->draw(painter, QPointF(margin, margin + box->ascent), Qt::black);
    painter.end();
    QRect ink;
    for (int y = 0; y < image.height(); ++y) {
      for (int x = 0; x < image.width(); ++x) {
        if (qGray(image.pixel(x, y)) < 128) ink |= QRect(x, y, 1, 1);
      }
    }
    EXPECT_TRUE(ink.isValid()) << source.toStdString();
    EXPECT_TRUE(image.rect().adjusted(margin - 3, margin - 2, 3 - margin, 2 - margin).contains(ink)) << source.toStdString();
  }
}

TEST(FormulaLayout, WhatCannotBeSetIsNone) {
  for (const char* source : {"$\\foo$", "$x^a^b$", "$\\mathbb{\\unknown}$"})
    EXPECT_FALSE(setFormula(QString::fromLatin1(source), bodyFont())) << source;
}

}  // namespace
}  // namespace winnow::ui
