#include "ui/chat_view/transcript_find.h"

#include <QStringList>
#include <algorithm>
#include <memory>

namespace winnow::ui {
namespace {

// Runs of letters and digits: Markdown shows them as they are written.
QStringList runsOf(const QString& words) {
  QStringList runs;
  QString run;
  for (const QChar c : words) {
    if (c.isLetterOrNumber() || c.isSurrogate() || c.isMark()) {
      run += c;
    } else if (!run.isEmpty()) {
      runs << std::exchange(run, {});
    }
  }
  if (!run.isEmpty()) runs << run;
  return runs;
}

bool mayHave(QStringView source, const QStringList& runs) {
  return std::all_of(runs.begin(), runs.end(), [source](const QString& run) { return source.contains(run, Qt::CaseInsensitive); });
}

}  // namespace

void TranscriptFind::look(const TranscriptLayout& layout, const QString& words, int from) {
  m_words = words.simplified();
  m_ranges.clear();
  m_at = 0;
  if (!active()) return;
  for (int message = 0; message < layout.count(); ++message) add(layout, message, m_ranges);
  const auto first = std::find_if(m_ranges.begin(), m_ranges.end(), [from](const Range& range) { return range.from.message >= from; });
  if (first != m_ranges.end()) m_at = static_cast<int>(first - m_ranges.begin());
}

void TranscriptFind::lookAgain(const TranscriptLayout& layout, int message) {
  if (!active()) return;
  std::vector<Range> ranges;
  for (const Range& range : m_ranges) {
    if (range.from.message < message) ranges.push_back(range);
  }
  add(layout, message, ranges);
  for (const Range& range : m_ranges) {
    if (range.from.message > message) ranges.push_back(range);
  }
  const std::optional<Range> before = present();
  m_ranges = std::move(ranges);
  const auto same = before ? std::find(m_ranges.begin(), m_ranges.end(), *before) : m_ranges.end();
  m_at = same != m_ranges.end() ? static_cast<int>(same - m_ranges.begin()) : std::clamp(m_at, 0, std::max(0, count() - 1));
}

void TranscriptFind::add(const TranscriptLayout& layout, int message, std::vector<Range>& ranges) const {
  const QStringList runs = runsOf(m_words);
  const MessageRows& rows = layout.at(message);
  for (int number = 0; number < static_cast<int>(rows.rows().size()); ++number) {
    const Row& row = rows.rows()[static_cast<std::size_t>(number)];
    if (row.kind != RowKind::kText || !mayHave(rows.splitter().source(rows.splitter().blocks()[row.block]), runs)) continue;
    std::unique_ptr<BlockDocument> made;
    if (!row.document) made = rows.makeDocument(row);
    const BlockDocument& document = row.document ? *row.document : *made;
    for (const auto& [from, to] : document.placesOf(m_words)) ranges.push_back({{message, number, from}, to});
  }
}

void TranscriptFind::step(int by) {
  if (count() > 0) m_at = ((m_at + by) % count() + count()) % count();
}

std::optional<TranscriptFind::Range> TranscriptFind::present() const {
  return m_at < count() ? std::optional(m_ranges[static_cast<std::size_t>(m_at)]) : std::nullopt;
}

std::vector<TranscriptFind::Range> TranscriptFind::within(int message, int row) const {
  std::vector<Range> ranges;
  for (const Range& range : m_ranges) {
    if (range.from.message == message && range.from.row == row) ranges.push_back(range);
  }
  return ranges;
}

}  // namespace winnow::ui
