// Understands one block of Markdown: md4c's events as plain values that name no resource and no markup language.
//
// Used by block_document.h. Raw HTML is text. Images are text ("[image: alt, url]"); nothing is ever opened or loaded. A link
// carries a target only when it is http, https or mailto, and its address is always part of the visible text. Characters that could
// deceive are made visible or dropped (display_text.h). Input too dense in markup
// to be worth parsing is returned as plain text: time and depth are bounded for every input. Throws nothing. Any thread.
#pragma once

#include <QString>
#include <QUrl>
#include <vector>

namespace winnow::ui {

struct TextRun {
  QString text;
  bool strong = false;
  bool emphasis = false;
  bool code = false;  // formulas too, as long as their source is shown
  bool strike = false;
  bool muted = false;    // an address after its link text, an image's stand-in
  QString href{};        // http, https or mailto only; empty: not a link
  bool formula = false;  // with its marks
};

enum class BlockKind : int { kParagraph = 1, kHeading = 2, kCode = 3, kRule = 4, kTable = 5, kFormula = 6 };

struct TableCell {
  std::vector<TextRun> runs{};
  Qt::Alignment alignment = Qt::AlignLeft;
  bool header = false;
};

struct Block {
  BlockKind kind = BlockKind::kParagraph;
  int headingLevel = 0;
  int listDepth = 0;  // 0: not in a list
  int quoteDepth = 0;
  QString marker;             // "•", "3.", "☐"; empty for a continued item
  std::vector<TextRun> runs;  // of kFormula: the one formula on its line
  QString code;
  QString language;  // of code, as its fence names it; may be empty
  std::vector<std::vector<TableCell>> rows;
};

inline constexpr int kMaxShownDepth = 8;
inline constexpr int kMaxTableColumns = 24;
inline constexpr int kMaxTableCells = 1200;

std::vector<Block> parseMarkdown(QStringView source);

// The listings of a source, those in lists and quotations too: the text of each.
std::vector<QString> listingsIn(QStringView source);

// A target that may be opened after the user confirmed; invalid for every other scheme and for addresses without a host.
QUrl allowedLink(const QString& address);

}  // namespace winnow::ui
