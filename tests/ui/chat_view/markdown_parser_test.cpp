#include "ui/chat_view/markdown_parser.h"

#include <gtest/gtest.h>

#include <QElapsedTimer>

#include "app/words/display_text.h"
#include "ui/chat_view/block_document.h"

namespace winnow::ui {
namespace {

QString textOf(const std::vector<Block>& blocks) {
  QString text;
  for (const Block& block : blocks) {
    for (const TextRun& run : block.runs) text += run.text;
    text += block.code;
    for (const auto& row : block.rows) {
      for (const TableCell& cell : row) {
        for (const TextRun& run : cell.runs) text += run.text;
      }
    }
  }
  return text;
}

QStringList linksOf(const std::vector<Block>& blocks) {
  QStringList links;
  for (const Block& block : blocks) {
    for (const TextRun& run : block.runs) {
      if (!run.href.isEmpty()) links << run.href;
    }
  }
  return links;
}

TEST(MarkdownParser, ReadsListsHeadingsAndTables) {
  const auto blocks = parseMarkdown(QStringLiteral("## Head\n\n3. three\n   - inner\n\n> said\n\n| a | b |\n|---|---:|\n| 1 | 2 |\n"));
  ASSERT_EQ(blocks.size(), 5u);
  EXPECT_EQ(blocks[0].headingLevel, 2);
  EXPECT_EQ(blocks[1].marker, QStringLiteral("3."));
  EXPECT_EQ(blocks[2].listDepth, 2);
  EXPECT_EQ(blocks[3].quoteDepth, 1);
  ASSERT_EQ(blocks[4].rows.size(), 2u);
  EXPECT_EQ(blocks[4].rows[1][1].alignment, Qt::AlignRight);
}

// What Markdown would take from a formula: backslashes, underscores, stars, bars.
TEST(MarkdownParser, FormulasKeepTheirSource) {
  const char* const formulas[] = {R"($a_1 * b_2 * c_3$)",
                                  R"($$\int_0^1 x\,dx$$)",
                                  R"(\(x_i \in \{1, 2\}\))",
                                  R"(\[E = mc^2\])",
                                  R"(\begin{align} a &= b \\ c &= d \end{align})",
                                  R"($|x|$)",
                                  "\\[a\nb\\]"};
  for (const char* formula : formulas) {
    const QString written = QString::fromLatin1(formula);
    QString shown = written;
    shown.replace(QLatin1Char('\n'), QChar(QChar::LineSeparator));
    for (const QString& source :
         {written, QStringLiteral("So %1, and **%1**.").arg(written), QStringLiteral("- one\n- %1\n").arg(written)}) {
      const auto blocks = parseMarkdown(source);
      EXPECT_TRUE(textOf(blocks).contains(shown)) << source.toStdString() << " became " << textOf(blocks).toStdString();
      bool code = false;
      for (const Block& block : blocks) {
        for (const TextRun& run : block.runs) code = code || (run.code && run.text == shown);
      }
      EXPECT_TRUE(code) << source.toStdString();
    }
  }
  const auto cells = parseMarkdown(QStringLiteral("| a | b |\n|---|---|\n| $|x|$ | 2 |\n"));
  ASSERT_EQ(cells.size(), 1U);
  EXPECT_EQ(cells[0].rows[1].size(), 2U) << "its bars part no cells";
}

TEST(MarkdownParser, MoneyAndCodeAreNoFormulas) {
  for (const char* source : {"It costs $5 and $10.", "From $5, that is 5$ less.", "US$ 3 and US$ 4", "a $ b $ c", "only $x"}) {
    const auto blocks = parseMarkdown(QString::fromLatin1(source));
    EXPECT_EQ(textOf(blocks), QString::fromLatin1(source));
    for (const TextRun& run : blocks.front().runs) EXPECT_FALSE(run.code) << source;
  }
  EXPECT_EQ(textOf(parseMarkdown(QStringLiteral("`$a` and `b$`"))), QStringLiteral("$a and b$"));
  EXPECT_EQ(textOf(parseMarkdown(QStringLiteral("```\n\\[x\\]\n```\n"))), QStringLiteral("\\[x\\]\n"));
  EXPECT_EQ(textOf(parseMarkdown(QStringLiteral("\\*no\\*"))), QStringLiteral("*no*")) << "other escapes are Markdown's";
  EXPECT_EQ(textOf(parseMarkdown(QStringLiteral("not closed \\[ x\\,y"))), QStringLiteral("not closed \\[ x\\,y"));
}

// E1, E2: an image is words, and nothing asks for it.
TEST(MarkdownParser, ImagesAreTextAndNothingIsLoaded) {
  const int refused = BlockDocument::refusedResources();
  for (const char* source :
       {"![a](http://h/x?d=SECRET)", "![](/dev/zero)", "![](file:///etc/passwd)", "![](qrc:/x)", "[![x](http://h/a)](http://h/b)",
        "![r][1]\n\n[1]: http://h/c", "<img src=\"http://h/d\">", "![](data:image/png;base64,AAAA)"}) {
    const QString text = QString::fromLatin1(source);
    const auto blocks = parseMarkdown(text);
    EXPECT_FALSE(textOf(blocks).isEmpty()) << source;
    EXPECT_FALSE(textOf(blocks).contains(QChar(0xfffc))) << source;
    BlockDocument document(text, BlockStyle::kMarkdown);
    document.setWidth(400);
  }
  EXPECT_EQ(BlockDocument::refusedResources(), refused);
}

// E3: only http, https and mailto can be clicked, and the address is always readable.
TEST(MarkdownParser, LinksAreShownInFullAndOnlySafeSchemesClick) {
  for (const char* bad : {"javascript:alert(1)", "file:///etc/passwd", "smb://h/s", "ms-msdt:x", "http:", "vbscript:x", "mailto:nobody",
                          "//h/x", "data:text/html,x"}) {
    const auto blocks = parseMarkdown(QStringLiteral("[bank](%1)").arg(QLatin1String(bad)));
    EXPECT_TRUE(linksOf(blocks).isEmpty()) << bad;
    EXPECT_TRUE(textOf(blocks).contains(QLatin1String(bad))) << bad;
  }
  const auto good = parseMarkdown(QStringLiteral("[my bank](https://a@evil.example/x)"));
  EXPECT_EQ(linksOf(good), QStringList{QStringLiteral("https://a@evil.example/x")});
  EXPECT_TRUE(textOf(good).contains(QStringLiteral("(https://a@evil.example/x)")));
}

// E4
TEST(MarkdownParser, HtmlIsText) {
  for (const char* source :
       {"<script>x()</script>", "a <a href=\"http://h\">b</a> c", "<!-- c -->", "<![CDATA[x]]>", "<table><tr><td>1</td></tr></table>"}) {
    const auto blocks = parseMarkdown(QString::fromLatin1(source));
    EXPECT_EQ(textOf(blocks), QString::fromLatin1(source));
  }
}

// E5, E8: the most that one block may hold, as nasty as it gets, stays far from a visible pause (bound generous for a busy machine).
TEST(MarkdownParser, HostileBlocksAreCheap) {
  const qsizetype most = 12288;
  QString table = QStringLiteral("|");
  for (int i = 0; i < 2000; ++i) table += QStringLiteral("a|");
  table += QStringLiteral("\n|");
  for (int i = 0; i < 2000; ++i) table += QStringLiteral("-|");
  QString deep;
  for (int i = 0; i < 150; ++i) deep += QString(i, QLatin1Char(' ')) + QStringLiteral("- x\n");
  const QString inputs[] = {QString(most, QLatin1Char('[')),
                            QString(most, QLatin1Char('*')),
                            QStringLiteral("*a_ ").repeated(3000),
                            QString(most, QLatin1Char('>')),
                            QStringLiteral("![").repeated(6000),
                            QStringLiteral("<a ").repeated(4000),
                            table,
                            deep,
                            QString(most, QLatin1Char('`')),
                            QStringLiteral("&#x41;").repeated(2000),
                            QStringLiteral("- ").repeated(750)};
  for (const QString& input : inputs) {
    QElapsedTimer timer;
    timer.start();
    const auto blocks = parseMarkdown(QStringView(input).left(most));
    EXPECT_LT(timer.elapsed(), 1500) << input.left(20).toStdString();
    for (const Block& block : blocks) {
      EXPECT_LE(block.listDepth, kMaxShownDepth);
      EXPECT_LE(block.quoteDepth, kMaxShownDepth);
      for (const auto& row : block.rows) EXPECT_LE(row.size(), static_cast<std::size_t>(kMaxTableColumns));
    }
  }
}

// E6, E7
TEST(DisplayText, NeutralisesWhatDeceives) {
  EXPECT_EQ(app::displayText(QStringLiteral("a\u202Eb")), QStringLiteral("a\uFFFDb"));
  EXPECT_EQ(app::displayText(QStringLiteral("a\u200Bb\uFEFF")), QStringLiteral("ab"));
  EXPECT_EQ(app::displayText(QStringLiteral("\x1b[31m")), QStringLiteral("\u241B[31m"));
  EXPECT_EQ(app::displayText(QStringLiteral("tab\tline\n")), QStringLiteral("tab\tline\n"));
  EXPECT_EQ(app::displayText(QStringLiteral("family \U0001F468\u200D\U0001F469")), QStringLiteral("family \U0001F468\u200D\U0001F469"));
}

}  // namespace
}  // namespace winnow::ui
