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
