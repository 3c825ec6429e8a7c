// The order in which a page is read: its parts (pieces of a line that belong together) by their places, columns one after the other.
//
// Used by pdf_text.h. A PDF draws text in any order; most draw it as it is read, and that order is kept wherever places do not contradict
// it. Columns are two or more stacks of wide parts beside each other, with a gutter that few parts cross (titles, wide figures); those part
// the page into bands. Tables, whose cells are narrow, keep their rows. Places are in points, from the page's upper left corner. Pure.
#pragma once

#include <QRectF>
#include <vector>

namespace winnow::app {

// A run of text on one line, without a gap that could be a gutter.
struct PagePart {
  QRectF place;
  QPointF first;  // within its first piece as drawn, and within its last
  QPointF last;
};

enum class Script : int { kLeftToRight = 1, kRightToLeft = 2 };

// pieces: where the letters are, in the order in which the page draws them.
std::vector<PagePart> partsOf(const std::vector<QRectF>& pieces);

// The parts' numbers as they are read. As drawn (0, 1, 2, ...) where nothing speaks against it, and above kMostParts.
inline constexpr std::size_t kMostParts = 4'000;
std::vector<int> readingOrder(const std::vector<PagePart>& parts, Script script);

// True if b goes on in a's line.
bool onOneLine(const QRectF& a, const QRectF& b);

}  // namespace winnow::app
