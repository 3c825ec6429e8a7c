#include "app/server/wire_conversations.h"

#include <algorithm>
#include <utility>

namespace winnow::app {

WireConversations::WireConversations(ConversationId first, std::int64_t mostBytes, std::size_t most)
    : m_mostBytes(mostBytes), m_most(most), m_next(first) {}

WireConversations::Kept* WireConversations::find(const std::string& session, ConversationId theirs) {
  const auto found = std::ranges::find_if(m_kept, [&](const Kept& kept) { return kept.theirs == theirs && kept.session == session; });
  return found == m_kept.end() ? nullptr : &*found;
}

ConversationId WireConversations::of(const std::string& session, ConversationId theirs) {
  Kept* kept = find(session, theirs);
  if (kept == nullptr) kept = &m_kept.emplace_back(Kept{session, theirs, m_next++, 0, 0});
  kept->used = ++m_clock;
  return kept->ours;
}

ConversationId WireConversations::ofFirstQuestion(const std::string& session, ConversationId theirs) {
  Kept* draft = find(session, kDraftConversation);
  if (theirs != kDraftConversation && draft != nullptr && find(session, theirs) == nullptr) draft->theirs = theirs;
  return of(session, theirs);
}

void WireConversations::holds(ConversationId ours, std::int64_t bytes) {
  const auto found = std::ranges::find(m_kept, ours, &Kept::ours);
  if (found != m_kept.end()) found->bytes = bytes;
}

std::optional<ConversationId> WireConversations::forget(const std::string& session, ConversationId theirs) {
  const Kept* kept = find(session, theirs);
  if (kept == nullptr) return std::nullopt;
  const ConversationId ours = kept->ours;
  std::erase_if(m_kept, [&](const Kept& each) { return each.ours == ours; });
  return ours;
}

std::vector<ConversationId> WireConversations::tooMany() {
  std::vector<ConversationId> forgotten;
  while (m_kept.size() > 1 && (m_kept.size() > m_most || bytes() > m_mostBytes)) {
    const auto oldest = std::ranges::min_element(m_kept, {}, &Kept::used);
    forgotten.push_back(oldest->ours);
    m_kept.erase(oldest);
  }
  return forgotten;
}

std::vector<ConversationId> WireConversations::forgetAll() {
  std::vector<ConversationId> forgotten;
  for (const Kept& kept : std::exchange(m_kept, {})) forgotten.push_back(kept.ours);
  return forgotten;
}

std::int64_t WireConversations::bytes() const {
  std::int64_t sum = 0;
  for (const Kept& kept : m_kept) sum += kept.bytes;
  return sum;
}

}  // namespace winnow::app
