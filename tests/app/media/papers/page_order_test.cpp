#include "app/media/papers/page_order.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace winnow::app {
namespace {

constexpr qreal kLine = 10.0;  // height of a line; the next begins 12 below

PagePart part(qreal left, qreal right, int row) {
  const QRectF place(left, 12.0 * row, right - left, kLine);
  return {place, place.center(), place.center()};
}

using Numbers = std::vector<int>;

TEST(PageOrder, PiecesOfALineAreOnePartUpToAGap) {
  const auto piece = [](qreal left, qreal right, qreal top) { return QRectF(left, top, right - left, kLine); };
  const auto parts = partsOf({piece(70, 100, 0), piece(103, 180, 1), piece(200, 280, 0), piece(70, 160, 12)});
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(parts[0].place.right(), 180);
  EXPECT_EQ(parts[1].place.left(), 200);
}

TEST(PageOrder, ColumnsThatAreDrawnRowByRowAreReadOneAfterTheOther) {
  std::vector<PagePart> parts{part(70, 500, 0)};  // a title across both
  for (int row = 1; row <= 6; ++row) {
    parts.push_back(part(70, 270, row));
    parts.push_back(part(300, 500, row));
  }
  parts.push_back(part(100, 480, 7));  // a wide caption
  EXPECT_EQ(readingOrder(parts, Script::kLeftToRight), Numbers({0, 1, 3, 5, 7, 9, 11, 2, 4, 6, 8, 10, 12, 13}));
  EXPECT_EQ(readingOrder(parts, Script::kRightToLeft), Numbers({0, 2, 4, 6, 8, 10, 12, 1, 3, 5, 7, 9, 11, 13}));
}

TEST(PageOrder, AWideFigureInTheMiddlePartsThePageIntoBands) {
  std::vector<PagePart> parts;
  for (int row = 0; row < 4; ++row) {
    parts.push_back(part(70, 270, row));
    parts.push_back(part(300, 500, row));
  }
  parts.push_back(part(90, 490, 5));
  for (int row = 7; row < 11; ++row) {
    parts.push_back(part(70, 270, row));
    parts.push_back(part(300, 500, row));
  }
  EXPECT_EQ(readingOrder(parts, Script::kLeftToRight), Numbers({0, 2, 4, 6, 1, 3, 5, 7, 8, 9, 11, 13, 15, 10, 12, 14, 16}));
}

TEST(PageOrder, ThreeColumns) {
  std::vector<PagePart> parts;
  for (int row = 0; row < 5; ++row)
    for (const qreal left : {50.0, 230.0, 410.0}) parts.push_back(part(left, left + 150, row));
  EXPECT_EQ(readingOrder(parts, Script::kLeftToRight), Numbers({0, 3, 6, 9, 12, 1, 4, 7, 10, 13, 2, 5, 8, 11, 14}));
}

TEST(PageOrder, ATableKeepsItsRows) {
  std::vector<PagePart> parts;
  for (int row = 0; row < 8; ++row)
    for (const qreal left : {70.0, 220.0, 370.0}) parts.push_back(part(left, left + 40, row));
  Numbers drawn(parts.size());
  for (std::size_t i = 0; i < drawn.size(); ++i) drawn[i] = static_cast<int>(i);
  EXPECT_EQ(readingOrder(parts, Script::kLeftToRight), drawn);
}

TEST(PageOrder, WhatIsDrawnInTheOrderOfReadingStays) {
  std::vector<PagePart> parts{part(70, 500, 0)};
  for (int row = 1; row < 30; ++row) parts.push_back(part(70, 270, row));
  for (int row = 1; row < 30; ++row) parts.push_back(part(300, 500, row));
  const auto order = readingOrder(parts, Script::kLeftToRight);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

// Each column was looked for among all that were right of it, minutes for one page.
TEST(PageOrder, MoreColumnsThanAnyPageHasAreReadAsTheyAreDrawn) {
  std::vector<PagePart> parts;
  Numbers all;
  for (int row = 0; row < 3; ++row) {
    for (int column = 0; column < 1300; ++column) parts.push_back(part(120.0 * column, 120.0 * column + 100.0, row));
  }
  for (int number = 0; number < 3900; ++number) all.push_back(number);
  Numbers order = readingOrder(parts, Script::kLeftToRight);
  EXPECT_EQ(order[1], 1300) << "the first of them";
  std::ranges::sort(order);
  EXPECT_EQ(order, all);
}

TEST(PageOrder, AFooterThatIsDrawnFirstIsReadLast) {
  std::vector<PagePart> parts{part(200, 300, 40)};
  for (int row = 0; row < 10; ++row) parts.push_back(part(70, 500, row));
  EXPECT_EQ(readingOrder(parts, Script::kLeftToRight).back(), 0);
}

}  // namespace
}  // namespace winnow::app
