#include "ui/chat_view/transcript_layout.h"

#include <algorithm>

#include "ui/theme/theme.h"

namespace winnow::ui {

void TranscriptLayout::set(std::vector<MessageContent> messages) {
  m_messages.clear();
  for (MessageContent& message : messages) m_messages.push_back(std::make_unique<MessageRows>(std::move(message)));
  setWidth(m_width);
}

void TranscriptLayout::append(MessageContent message) {
  m_messages.push_back(std::make_unique<MessageRows>(std::move(message)));
  m_messages.back()->layout(m_width);
  place();
}

bool TranscriptLayout::update(const MessageContent& message) {
  const int index = indexOf(message.id);
  if (index < 0) return false;
  at(index).update(message);
  place();
  return true;
}

void TranscriptLayout::toggle(int index, Fold what) {
  at(index).toggle(what);
  place();
}

int TranscriptLayout::indexOf(qint64 id) const {
  for (int i = count() - 1; i >= 0; --i) {
    if (at(i).content().id == id) return i;
  }
  return -1;
}

bool TranscriptLayout::bare() const { return count() == 1 && at(0).content().bare; }

void TranscriptLayout::setWidth(qreal width) {
  m_width = width;
  for (auto& message : m_messages) message->layout(width);
  place();
}

void TranscriptLayout::invalidate() {
  for (auto& message : m_messages) message->invalidate();
}

void TranscriptLayout::place() {
  m_tops.resize(m_messages.size() + 1);
  qreal y = theme().space(bare() ? Space::kSmall : Space::kHuge);
  for (std::size_t i = 0; i < m_messages.size(); ++i) {
    m_tops[i] = y;
    y += m_messages[i]->height() + theme().space(Space::kHuge);
  }
  m_tops.back() = y;
}

int TranscriptLayout::messageAt(qreal y) const {
  if (m_messages.empty()) return -1;
  const auto it = std::upper_bound(m_tops.begin(), m_tops.end() - 1, y);
  return std::max(0, static_cast<int>(it - m_tops.begin()) - 1);
}

TranscriptLayout::Measured TranscriptLayout::measure(qreal top, qreal page) {
  Measured measured;
  for (int i = std::max(0, messageAt(top)); i < count() && this->top(i) <= top + page; ++i) {
    const qreal start = this->top(i);
    const qreal before = at(i).height();
    // The row that crosses the top keeps its lower edge: rows above it were not measured.
    if (!at(i).measureRows(top - start - page * 0.25, top + page - start + page * 0.25)) continue;
    measured.changed = true;
    if (start < top && start + before <= top + 1) measured.shift += at(i).height() - before;
  }
  if (measured.changed) place();
  return measured;
}

void TranscriptLayout::release(qreal top, qreal page) {
  for (int i = 0; i < count(); ++i) at(i).releaseOutside(top - this->top(i) - page, top + 2 * page - this->top(i));
}

}  // namespace winnow::ui
