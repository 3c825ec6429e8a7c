// Which words differ: the first place where two answers part, and the words outside what they have in common.
#include "ui/compare/differing_words.h"

#include <gtest/gtest.h>

namespace winnow::ui {
namespace {

std::vector<TextMark> marks(const char* text, const char* reference, bool complete = true, bool referenceComplete = true) {
  return differingWords({QString::fromUtf8(text), complete}, {QString::fromUtf8(reference), referenceComplete}, QStringLiteral("Full"));
}

std::string words(const char* text, const std::vector<TextMark>& all) {
  std::string joined;
  for (const TextMark& mark : all) {
    if (mark.kind == TextMark::Kind::kFirst) joined += '*';
    joined += QString::fromUtf8(text).mid(mark.from, mark.length).toStdString();
    joined += '|';
  }
  return joined;
}

std::string marked(const char* text, const char* reference, bool complete = true, bool referenceComplete = true) {
  return words(text, marks(text, reference, complete, referenceComplete));
}

TEST(DifferingWords, SameWordsHaveNoMarksWhateverTheSpace) {
  EXPECT_EQ(marked("the star is red", "the  star\nis red "), "");
  EXPECT_EQ(marked("", "the star"), "");
}

TEST(DifferingWords, ReplacedWordsAreMarkedAndToldWithTheOtherOnes) {
  EXPECT_EQ(marked("the star is blue and small", "the star is red and large"), "*blue|small|");
  const std::vector<TextMark> all = marks("the star is blue and small", "the star is red and large");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].note, QStringLiteral("Full has “red” here."));
  EXPECT_EQ(all[1].note, QStringLiteral("Full has “large” here."));
}

TEST(DifferingWords, AWordTooManyDoesNotMarkEverythingBehindIt) {
  EXPECT_EQ(marked("a big red star in the middle", "a red star in the middle"), "*big|");
  EXPECT_EQ(marks("a big red star", "a red star")[0].note, QStringLiteral("Full has nothing here."));
}

TEST(DifferingWords, WhereTheOtherHasMoreTheTextsPartAtTheNextWord) {
  EXPECT_EQ(marked("a star in the middle", "a red star in the middle"), "*star|");
  EXPECT_EQ(marks("a star in the middle", "a red star in the middle")[0].note, QStringLiteral("Full has “red” here."));
  EXPECT_EQ(marked("a red star", "a red star in the middle"), "*star|");
  EXPECT_EQ(marks("a red star", "a red star in the middle")[0].note, QStringLiteral("Full has “in the middle” here."));
}

TEST(DifferingWords, WhatMayStillGrowIsNotJudged) {
  EXPECT_EQ(marked("the star is bl", "the star is red", false), "");
  EXPECT_EQ(marked("the star is blue and", "the star is red and large", false), "*blue|");
  EXPECT_EQ(marked("the star is red and large", "the star is r", true, false), "") << "the other has not got there";
  EXPECT_EQ(marked("the moon is red and large", "the star is r", true, false), "*moon|");
}

TEST(DifferingWords, LettersBeyondTheBasicPlaneCountAsTheyStand) {
  EXPECT_EQ(marked("\xe2\xad\x90 \xf0\x9f\x94\xb4 d\xc3\xa9j\xc3\xa0", "\xe2\xad\x90 \xf0\x9f\x94\xb5 d\xc3\xa9j\xc3\xa0"),
            "*\xf0\x9f\x94\xb4|");
}

TEST(DifferingWords, LongAnswersAreBounded) {
  QString a, b;
  for (int i = 0; i < 6000; ++i) {
    a += QStringLiteral("a%1 ").arg(i);
    b += QStringLiteral("b%1 ").arg(i);
  }
  const std::vector<TextMark> all = differingWords({QStringLiteral("same ") + a, true}, {QStringLiteral("same ") + b, true}, QString());
  ASSERT_EQ(all.size(), 6000u);
  EXPECT_EQ(all[0].kind, TextMark::Kind::kFirst);
  EXPECT_EQ(all[0].from, 5);
}

}  // namespace
}  // namespace winnow::ui
