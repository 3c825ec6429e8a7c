#include "ui/chat_view/transcript_walks.h"

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

#include "ui/chat_view/message_geometry.h"

namespace winnow::ui {
namespace {

// Only these are links (allowedLink()), and pages of text without any are never laid out.
bool mayHaveLinks(QStringView source) {
  return source.contains(u"http", Qt::CaseInsensitive) || source.contains(u'@') || source.contains(u"www.", Qt::CaseInsensitive);
}

std::vector<Openable> openablesOf(const MessageRows& message) {
  std::vector<Openable> all;
  const AttachmentGrid grid(message.innerWidth(), message.content().attachments);
  for (int i = 0; i < static_cast<int>(message.content().attachments.size()); ++i) {
    if (!grid.rect(i, {}).isEmpty()) all.push_back({i, {}, 0, 0, 0});
  }
  for (int number = 0; number < static_cast<int>(message.rows().size()); ++number) {
    const Row& row = message.rows()[static_cast<std::size_t>(number)];
    if (row.kind != RowKind::kText || !mayHaveLinks(message.splitter().source(message.splitter().blocks()[row.block]))) continue;
    std::unique_ptr<BlockDocument> made;
    if (!row.document) made = message.makeDocument(row);
    for (const BlockDocument::Link& link : (row.document ? *row.document : *made).links())
      all.push_back({-1, link.address, number, link.from, link.to});
  }
  return all;
}

}  // namespace

bool OpenableWalk::step(const TranscriptLayout& layout, int message, int step) {
  const qint64 id = layout.at(message).content().id;
  const int from = id == m_message ? m_at : -1;
  if (from + step < -1) return false;
  m_message = id;
  m_all = openablesOf(layout.at(message));
  m_at = from + step;
  if (m_at < static_cast<int>(m_all.size())) return true;
  clear();
  return false;
}

void OpenableWalk::toLast(const TranscriptLayout& layout, int message) {
  m_message = layout.at(message).content().id;
  m_all = openablesOf(layout.at(message));
  m_at = static_cast<int>(m_all.size()) - 1;
}

void OpenableWalk::lookAgain(const TranscriptLayout& layout) {
  if (m_at < 0) return;
  const int index = layout.indexOf(m_message);
  if (index < 0) return clear();
  m_all = openablesOf(layout.at(index));
  if (m_at >= static_cast<int>(m_all.size())) clear();
}

std::optional<Openable> OpenableWalk::present() const {
  return m_at >= 0 ? std::optional(m_all[static_cast<std::size_t>(m_at)]) : std::nullopt;
}

bool MarkWalk::step(const TranscriptLayout& layout, int step) {
  std::vector<std::pair<qint64, int>> all;  // message, mark
  int at = -1;
  for (int i = 0; i < layout.count(); ++i) {
    const MessageContent& content = layout.at(i).content();
    for (int mark = 0; mark < static_cast<int>(content.marks.size()); ++mark) {
      if (content.id == m_message && mark == m_mark) at = static_cast<int>(all.size());
      all.emplace_back(content.id, mark);
    }
  }
  if (all.empty()) return false;
  const int count = static_cast<int>(all.size());
  at = at < 0 ? (step > 0 ? 0 : count - 1) : (at + step + count) % count;
  std::tie(m_message, m_mark) = all[static_cast<std::size_t>(at)];
  return true;
}

QString MarkWalk::note(const TranscriptLayout& layout) const {
  const int index = layout.indexOf(m_message);
  if (m_mark < 0 || index < 0) return {};
  const std::vector<TextMark>& marks = layout.at(index).content().marks;
  return static_cast<std::size_t>(m_mark) < marks.size() ? marks[static_cast<std::size_t>(m_mark)].note : QString();
}

}  // namespace winnow::ui
