#include "ui/chat_view/mark_walk.h"

#include <tuple>
#include <utility>

namespace winnow::ui {

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
