// A formula as a tree of what LaTeX's commands mean.
//
// Made by formula_parser.h, set by formula_layout.h. Values; any thread.
#pragma once

#include <QString>
#include <vector>

namespace winnow::ui {

// TeX's classes of atoms, which decide on spaces (The TeXbook, chapter 17).
enum class Atom : int { kOrdinary = 0, kOperator = 1, kBinary = 2, kRelation = 3, kOpen = 4, kClose = 5, kPunctuation = 6, kInner = 7 };
enum class Face : int {
  kItalic = 1,
  kUpright = 2,
  kBold = 3,
  kBoldItalic = 4,
  kDoubleStruck = 5,
  kScript = 6,
  kFraktur = 7,
  kSans = 8,
  kMono = 9
};
enum class MathStyle : int { kInherited = 0, kDisplay = 1, kText = 2, kScript = 3, kScriptScript = 4 };
// Places of sub- and superscripts: beside; above and below in display style; there in every style.
enum class Limits : int { kBeside = 1, kInDisplay = 2, kAlways = 3 };

struct FormulaNode {
  enum class Kind : int {
    kRow = 1,       // parts
    kSign = 2,      // text: one sign, or several as a word
    kScripts = 3,   // parts: base, below, above; an empty row: none
    kFraction = 4,  // parts: numerator, denominator. em: 0: without a bar
    kRoot = 5,      // parts: radicand, degree
    kFence = 6,     // parts, each behind a sign of fences; the last sign closes
    kBigFence = 7,  // text: the sign. em: its height
    kAccent = 8,    // parts: body. text: the command's name
    kStacked = 9,   // parts: script, base. text: "under" or "over"
    kArrow = 10,    // parts: script above, script below. text: "rightarrow" or "leftarrow", as long as its scripts
    kArray = 11,    // parts: rows of cells. text: how columns are aligned, l, c, r; | is a line; the pattern goes on. em: between columns
    kBoxed = 12,    // parts: body
    kSpace = 13,    // em
    kFace = 14,     // the parser's alone: letters behind it have this face
    kStyle = 15,    // the rest of the row has this style
  };
  Kind kind = Kind::kRow;
  Atom atom = Atom::kOrdinary;
  Face face = Face::kItalic;
  Limits limits = Limits::kBeside;
  MathStyle style = MathStyle::kInherited;
  bool large = false;  // a sign that is larger in display style
  QString text{};
  QString fences{};  // around a fraction, an array, parts; a dot: none
  qreal em = 0.0;
  std::vector<FormulaNode> parts{};

  bool isEmpty() const { return kind == Kind::kRow && parts.empty(); }
};

}  // namespace winnow::ui
