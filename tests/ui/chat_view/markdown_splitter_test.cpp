#include "ui/chat_view/markdown_splitter.h"

#include <gtest/gtest.h>

#include <random>

namespace winnow::ui {
namespace {

QString joined(const MarkdownSplitter& splitter) {
  QString text;
  for (const SourceBlock& block : splitter.blocks()) text += splitter.source(block);
  return text;
}

TEST(MarkdownSplitter, CutsAtBlankLinesAndKeepsListsAndCodeWhole) {
  MarkdownSplitter splitter;
  splitter.append(QStringLiteral("# Title\n\nOne\ntwo\n\n- a\n\n  still a\n- b\n\n```cpp\nint x;\n\nint y;\n```\nAfter"));
  ASSERT_EQ(splitter.blocks().size(), 5u);
  EXPECT_EQ(splitter.source(splitter.blocks()[2]).trimmed().toString(), QStringLiteral("- a\n\n  still a\n- b"));
  EXPECT_TRUE(splitter.blocks()[3].code);
  EXPECT_EQ(splitter.blocks()[3].language, QStringLiteral("cpp"));
  EXPECT_EQ(splitter.code(splitter.blocks()[3]), QStringLiteral("int x;\n\nint y;\n"));
}

TEST(MarkdownSplitter, AnyPiecesGiveTheBlocksOfTheWhole) {
  const QString text = QStringLiteral(
      "Intro `a` and\n```not``` inline\n\n1. one\n2. two\n\n   more of two\n\n> quote\n> goes on\n\n```\ncode\n\n~~~\n``\n```\n\n| a | b "
      "|\n|---|---|\n| 1 | 2 |\n\n"
      "~~~py\nx = 1\n~~~\n   indented start\n\nunclosed\n````md\n```\ninside\n");
  MarkdownSplitter whole;
  whole.append(text);
  EXPECT_EQ(joined(whole), text);
  std::mt19937 random(7);
  for (int round = 0; round < 400; ++round) {
    MarkdownSplitter pieces;
    for (qsizetype at = 0; at < text.size();) {
      const qsizetype length = std::min<qsizetype>(1 + static_cast<qsizetype>(random() % 9), text.size() - at);
      pieces.append(QStringView(text).mid(at, length));
      at += length;
    }
    ASSERT_EQ(pieces.blocks(), whole.blocks()) << "round " << round << ", seed 7";
  }
}

TEST(MarkdownSplitter, BoundsEveryBlock) {
  MarkdownSplitter splitter;
  const QString line(1'000'000, QLatin1Char('x'));
  splitter.append(line);
  EXPECT_EQ(joined(splitter), line);
  for (const SourceBlock& block : splitter.blocks()) EXPECT_LE(block.length, MarkdownSplitter::kMaxBlockCharacters);
  EXPECT_TRUE(splitter.blocks()[1].continues);

  MarkdownSplitter code;
  QString body;
  for (int i = 0; i < 4000; ++i) body += QStringLiteral("line %1\n").arg(i);
  code.append(QStringLiteral("```\n") + body + QStringLiteral("```\n"));
  ASSERT_GT(code.blocks().size(), 2u);
  QString again;
  for (const SourceBlock& block : code.blocks()) {
    EXPECT_TRUE(block.code);
    again += code.code(block);
  }
  EXPECT_EQ(again, body);
}

TEST(MarkdownSplitter, AppendTouchesTheTailOnly) {
  MarkdownSplitter splitter;
  for (int i = 0; i < 500; ++i) splitter.append(QStringLiteral("Paragraph %1.\n\n").arg(i));
  const std::size_t before = splitter.blocks().size();
  EXPECT_GE(splitter.append(QStringLiteral("more")), before - 2);
}

}  // namespace
}  // namespace winnow::ui
