// Words and lines in a text of tokens.
#include "ui/kept_map/token_search.h"

#include <gtest/gtest.h>

namespace winnow::ui {
namespace {

const std::vector<QString> kTexts = {QStringLiteral("The"), QStringLiteral(" red"), QStringLiteral("dish\n"), QStringLiteral("star"),
                                     QStringLiteral(" is"), QStringLiteral(" RED"), QStringLiteral(".")};

TEST(TokenSearch, FindsWordsAcrossTokensAndLinesWhateverTheirCase) {
  EXPECT_EQ(findWords(kTexts, QStringLiteral("red")), (std::vector<TokenRange>{{1, 1}, {5, 5}}));
  EXPECT_EQ(findWords(kTexts, QStringLiteral("reddish star")), (std::vector<TokenRange>{{1, 3}}));
  EXPECT_EQ(findWords(kTexts, QStringLiteral("  reddish   star ")), (std::vector<TokenRange>{{1, 3}}));
  EXPECT_TRUE(findWords(kTexts, QStringLiteral("blue")).empty());
  EXPECT_TRUE(findWords(kTexts, QStringLiteral(" ")).empty());
  EXPECT_TRUE(findWords({}, QStringLiteral("red")).empty());
}

TEST(TokenSearch, FindsALineOrTheNextThatHasWords) {
  std::vector<TokenOrigin> origins;
  for (const int line : {0, 0, 0, 2, 2, 3}) origins.push_back({Modality::kDocument, 0, line, -1, -1});
  EXPECT_EQ(findLine(origins, 0), (std::vector<TokenRange>{{0, 2}}));
  EXPECT_EQ(findLine(origins, 1), (std::vector<TokenRange>{{3, 4}}));
  EXPECT_EQ(findLine(origins, 3), (std::vector<TokenRange>{{5, 5}}));
  EXPECT_TRUE(findLine(origins, 4).empty());
  EXPECT_TRUE(findLine(origins, -1).empty());
}

TEST(TokenSearch, AColonAndANumberAskForALine) {
  EXPECT_EQ(askedLine(QStringLiteral(":12")), 11);
  EXPECT_EQ(askedLine(QStringLiteral(" : 3 ")), 2);
  for (const char* text : {"12", ":", ":0", ":-4", ":1x", ""}) EXPECT_EQ(askedLine(QLatin1String(text)), -1) << text;
}

}  // namespace
}  // namespace winnow::ui
