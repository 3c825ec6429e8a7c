#include "app/media/papers/page_lines.h"

#include <gtest/gtest.h>

namespace winnow::app {
namespace {

// Lines of a page, parted by "|".
std::string joined(const QString& lines) {
  std::vector<QStringList> pages{lines.split(u'|')};
  joinHyphens(pages);
  return pages.front().join(u'|').toStdString();
}

TEST(PageLines, LettersAreThoseOfAReader) {
  EXPECT_EQ(plainLetters(QStringLiteral("\uFB01nite o\uFB03ce \uFB02ow")), QStringLiteral("finite office flow"));
  EXPECT_EQ(plainLetters(QStringLiteral(" soft\u00ADhyphen\u00A0and\u2003space\r")), QStringLiteral("softhyphen and space"));
}

TEST(PageLines, AWordPartedAtTheEndOfALineIsOneWord) {
  EXPECT_EQ(joined(QStringLiteral("of sedi\uFFFEmentation on shores")), "of sedimentation|on shores") << "as PDFium marks it";
  EXPECT_EQ(joined(QStringLiteral("of sedi\uFFFE|mentation on shores")), "of sedimentation|on shores");
  EXPECT_EQ(joined(QStringLiteral("of sedi-|mentation on shores")), "of sedimentation|on shores") << "as it stands in the text";
  EXPECT_EQ(joined(QStringLiteral("a sedi\uFFFEmen\uFFFEtation")), "a sedimentation");
  EXPECT_EQ(joined(QStringLiteral("end sedi\uFFFE")), "end sedi-") << "nothing follows";
}

TEST(PageLines, AHyphenStaysWhereItBelongs) {
  EXPECT_EQ(joined(QStringLiteral("a well\uFFFEknown shore|is well-known")), "a well-known|shore|is well-known");
  EXPECT_EQ(joined(QStringLiteral("of Baden\uFFFEBaden")), "of Baden-Baden") << "before a capital";
  EXPECT_EQ(joined(QStringLiteral("from 3-|and more -|here")), "from 3-|and more -|here");
}

// All of it was looked through again at each of its lines.
TEST(PageLines, AWordOverManyLinesIsJoined) {
  constexpr int kLines = 200'000;
  EXPECT_EQ(joined(QStringLiteral("ab-|").repeated(kLines) + u'c'), QStringLiteral("ab").repeated(kLines).toStdString() + "c");
}

TEST(PageLines, HeadersAndPageNumbersAreLeftOut) {
  std::vector<QStringList> pages;
  for (int page = 0; page < 6; ++page) {
    pages.push_back({page % 2 == 0 ? QStringLiteral("Journal of Shores") : QStringLiteral("A. Nonymous"),
                     QStringLiteral("Words of part %1").arg(QChar(u'a' + page)), QStringLiteral("and more words %1").arg(page * page),
                     QStringLiteral("last line %1").arg(QChar(u'z' - page)), QStringLiteral("Page %1 of 6").arg(page + 1)});
  }
  EXPECT_EQ(leaveOutMargins(pages), 12);
  for (const QStringList& lines : pages) EXPECT_EQ(lines.size(), 3) << lines.join(u'|').toStdString();
}

TEST(PageLines, WhatOnlyLooksLikeAHeaderStays) {
  std::vector<QStringList> pages;
  for (const char* value : {"17", "3", "99", "4", "58"})
    pages.push_back({QStringLiteral("Chapter %1").arg(QLatin1String(value)), QStringLiteral("words"), QLatin1String(value)});
  const auto before = pages;
  for (QStringList& lines : pages) lines[1] += lines[2];
  EXPECT_EQ(leaveOutMargins(pages), 0) << "numbers that do not count with the pages";
  std::vector<QStringList> two(2, QStringList{QStringLiteral("Same"), QStringLiteral("words")});
  EXPECT_EQ(leaveOutMargins(two), 0) << "two pages say little";
  std::vector<QStringList> tickets(9, QStringList{QStringLiteral("Admit one")});
  EXPECT_EQ(leaveOutMargins(tickets), 0) << "nothing else is on them";
}

TEST(PageLines, RightToLeftWordsComeIntoTheirOrder) {
  EXPECT_EQ(logicalLine(u"\u05DD\u05D5\u05DC\u05E9 12 abc", DrawnOrder::kLetters), QStringLiteral("\u05E9\u05DC\u05D5\u05DD 12 abc"));
  EXPECT_EQ(logicalLine(u"\u05D1\u05D0 \u05D3\u05D2", DrawnOrder::kLine), QStringLiteral("\u05D2\u05D3 \u05D0\u05D1"));
  EXPECT_EQ(logicalLine(u"\u05D0\u05D1", DrawnOrder::kLogical), QStringLiteral("\u05D0\u05D1"));
}

}  // namespace
}  // namespace winnow::app
