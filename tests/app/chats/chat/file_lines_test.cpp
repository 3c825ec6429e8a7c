#include "app/chats/chat/file_lines.h"

#include <gtest/gtest.h>

namespace winnow::app {
namespace {

TEST(FileLines, ATextIsCutIntoItsParagraphsWithTheirLinesAndPages) {
  const QList<FileLine> passages = passagesOf("Title\n\nfirst line\n  second line \nthird\nlast", {0, 4});
  ASSERT_EQ(passages.size(), 3);
  EXPECT_EQ(passages[0].text, QStringLiteral("Title"));
  EXPECT_EQ(passages[1].text, QStringLiteral("first line second line"));
  EXPECT_EQ(passages[1].line, 2);
  EXPECT_EQ(passages[1].page, 1);
  EXPECT_EQ(passages[2].text, QStringLiteral("third last")) << "a page begins a passage";
  EXPECT_EQ(passages[2].line, 4);
  EXPECT_EQ(passages[2].page, 2);
  EXPECT_EQ(passagesOf("one", {}).front().page, 0);
  EXPECT_TRUE(passagesOf("", {}).isEmpty());
  EXPECT_TRUE(passagesOf("\n \n", {}).isEmpty());
}

TEST(FileLines, ALongParagraphIsCutAtALine) {
  const std::string line(500, 'a');
  const QList<FileLine> passages = passagesOf(line + "\n" + line + "\n" + line, {});
  ASSERT_EQ(passages.size(), 2);
  EXPECT_EQ(passages[0].text.size(), 1001);
  EXPECT_EQ(passages[1].line, 2);
}

TEST(FileLines, OnlyThoseWithATimeAreSubtitles) {
  QList<FileLine> lines = fileLines({{1.0, 2.0, "one"}}, LineKind::kHeard);
  lines.append({LineKind::kSubtitle, -1, -1, 0, 0, QStringLiteral("all of it")});
  lines.append({LineKind::kDescribed, 3.0, -1, 0, 0, QStringLiteral("a\nstar")});
  EXPECT_EQ(timedLines(lines), (std::vector<TimedLine>{{1.0, 2.0, "one"}, {3.0, 3.0, "a star"}}));
}

}  // namespace
}  // namespace winnow::app
