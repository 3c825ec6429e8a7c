#include "ui/chat_view/block_document.h"

#include <gtest/gtest.h>

#include <QRegularExpression>
#include <map>

namespace winnow::ui {
namespace {

// Where the lines of a text begin and how many there are: the left edges of their first words, by the words' line.
std::map<int, qreal> leftEdges(const QString& source, const QString& words, qreal width) {
  BlockDocument document(source, BlockStyle::kMarkdown);
  document.setWidth(width);
  std::vector<TextMark> marks;
  const QRegularExpression word(QStringLiteral("\\b%1\\b").arg(words));
  for (auto found = word.globalMatch(source); found.hasNext();) {
    const QRegularExpressionMatch match = found.next();
    marks.push_back({match.capturedStart(), match.capturedLength(), TextMark::Kind::kDiffers, {}});
  }
  document.setMarks(source, marks);
  std::map<int, qreal> edges;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    const QRectF rect = document.markRect(static_cast<int>(i));
    const auto [line, isNew] = edges.try_emplace(qRound(rect.top()), rect.left());
    if (!isNew) line->second = std::min(line->second, rect.left());
  }
  return edges;
}

// In a listing, within a list, and in what a user wrote.
TEST(BlockDocument, ATabLeadsToTheNextFourthCharacter) {
  const auto left = [](const QString& source, BlockStyle style) {
    BlockDocument document(source, style);
    document.setWidth(2000);
    document.setMarks(source, {{source.indexOf(QLatin1Char('x')), 1, TextMark::Kind::kDiffers, {}}});
    return document.markRect(0).left();
  };
  for (const BlockStyle style : {BlockStyle::kCode, BlockStyle::kPlain}) {
    EXPECT_NEAR(left(QStringLiteral("a\tx"), style), left(QStringLiteral("\tx"), style), 1.0) << static_cast<int>(style);
    EXPECT_GT(left(QStringLiteral("\tx"), style), 3 * left(QStringLiteral(" x"), style) - 1) << static_cast<int>(style);
    EXPECT_NEAR(left(QStringLiteral("\t\tx"), style), 2 * left(QStringLiteral("\tx"), style), 1.0) << static_cast<int>(style);
  }
  const QString listing = QStringLiteral("- item\n\n  ```\n  a%1x\n  ```\n");
  const qreal at = left(listing.arg(QString()), BlockStyle::kMarkdown);
  // Stops count from the edge of the block, which a list has pushed in.
  EXPECT_GT(left(listing.arg(QStringLiteral("\t")), BlockStyle::kMarkdown) - at,
            left(listing.arg(QLatin1Char(' ')), BlockStyle::kMarkdown) - at + 1);
}

// The text of an item begins on one line below the other, however deep the item is.
TEST(BlockDocument, LinesOfANestedItemBeginBelowOneAnother) {
  const QString lines = QStringLiteral("word ").repeated(30);
  const QString sources[] = {QStringLiteral("- ") + lines, QStringLiteral("- outer\n  - ") + lines,
                             QStringLiteral("- outer\n  - inner\n    - ") + lines, QStringLiteral("1. outer\n   1. ") + lines,
                             QStringLiteral("> - quoted\n>   - ") + lines};
  for (const QString& source : sources) {
    const std::map<int, qreal> edges = leftEdges(source, QStringLiteral("word"), 320);
    ASSERT_GT(edges.size(), 2u) << source.left(20).toStdString();
    for (const auto& [top, left] : edges) EXPECT_NEAR(left, edges.begin()->second, 1.0) << source.left(20).toStdString() << " at " << top;
  }
}

}  // namespace
}  // namespace winnow::ui
