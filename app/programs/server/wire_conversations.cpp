#include "app/programs/server/wire_conversations.h"

namespace winnow::app {

KeptConversations<WireConversations::OfClient>::Kept* WireConversations::find(const std::string& session, ConversationId theirs) {
  return m_kept.find([&](const auto& kept) { return kept.key.theirs == theirs && kept.key.session == session; });
}

ConversationId WireConversations::of(const std::string& session, ConversationId theirs) {
  auto* kept = find(session, theirs);
  if (kept == nullptr) kept = &m_kept.add({session, theirs});
  m_kept.use(*kept);
  return kept->conversation;
}

ConversationId WireConversations::ofFirstQuestion(const std::string& session, ConversationId theirs) {
  auto* draft = find(session, kDraftConversation);
  if (theirs != kDraftConversation && draft != nullptr && find(session, theirs) == nullptr) draft->key.theirs = theirs;
  return of(session, theirs);
}

void WireConversations::holds(ConversationId ours, std::int64_t bytes) {
  if (auto* kept = m_kept.find(ours)) kept->bytes = bytes;
}

std::optional<ConversationId> WireConversations::forget(const std::string& session, ConversationId theirs) {
  const auto* kept = find(session, theirs);
  if (kept == nullptr) return std::nullopt;
  const ConversationId ours = kept->conversation;
  m_kept.forget(ours);
  return ours;
}

}  // namespace winnow::app
