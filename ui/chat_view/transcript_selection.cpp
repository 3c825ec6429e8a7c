#include "ui/chat_view/transcript_selection.h"

#include <algorithm>
#include <memory>

namespace winnow::ui {

void TranscriptSelection::clear() {
  m_anchor.reset();
  m_end.reset();
}

void TranscriptSelection::begin(const std::optional<TextPosition>& at) { m_anchor = m_end = at; }

void TranscriptSelection::extend(const std::optional<TextPosition>& to) {
  if (m_anchor) m_end = to ? to : m_anchor;
}

void TranscriptSelection::selectWord(const TranscriptLayout& layout, const TextPosition& at) {
  TextPosition from = at, to = at;
  layout.at(at.message).rows()[static_cast<std::size_t>(at.row)].document->wordAround(at.position, from.position, to.position);
  m_anchor = from;
  m_end = to;
}

void TranscriptSelection::selectAll(const TranscriptLayout& layout) {
  if (layout.count() == 0) return;
  const int last = layout.count() - 1;
  m_anchor = TextPosition{0, 0, 0};
  m_end = TextPosition{last, static_cast<int>(layout.at(last).rows().size()), 0};
}

std::pair<int, int> TranscriptSelection::within(int message, int row, int length) const {
  if (isEmpty()) return {0, 0};
  const auto [first, last] = ordered();
  const TextPosition start{message, row, 0}, end{message, row, length};
  if (first >= end || last <= start) return {0, 0};
  return {first > start ? first.position : 0, last < end ? last.position : length};
}

QString TranscriptSelection::text(const TranscriptLayout& layout) const {
  if (isEmpty()) return {};
  const auto [from, to] = ordered();
  QString text;
  for (int m = from.message; m <= to.message && m < layout.count(); ++m) {
    const MessageRows& message = layout.at(m);
    if (m != from.message && !text.isEmpty()) text += QLatin1String("\n\n");
    bool firstRow = true;
    for (int r = 0; r < static_cast<int>(message.rows().size()); ++r) {
      const Row& row = message.rows()[static_cast<std::size_t>(r)];
      if (row.kind != RowKind::kText || (m == from.message && r < from.row) || (m == to.message && r > to.row)) continue;
      std::unique_ptr<BlockDocument> made;
      const BlockDocument* document = row.document.get();
      if (document == nullptr) {
        made = message.makeDocument(row);
        document = made.get();
      }
      const int start = m == from.message && r == from.row ? from.position : 0;
      const int end = m == to.message && r == to.row ? to.position : document->length();
      if (!firstRow && !message.splitter().blocks()[row.block].continues) text += QLatin1Char('\n');
      firstRow = false;
      text += document->textBetween(start, end);
    }
  }
  return text;
}

}  // namespace winnow::ui
