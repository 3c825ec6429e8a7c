// Which of the engine's conversations a client means: every client counts its own, and none reaches another's, a chat's or a thread's.
//
// Used by wire_service.h. A client is who knows its session, a number that nobody guesses. Whose conversation is forgotten
// (kept_conversations.h) loses time and nothing else, since every turn carries its whole thread. Pure; threads: one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/programs/server/kept_conversations.h"
#include "engine/messages/requests.h"

namespace winnow::app {

class WireConversations {
 public:
  // first: the smallest number; those of others are below.
  WireConversations(ConversationId first, std::int64_t mostBytes, std::size_t most = 64) : m_kept(first, mostBytes, most) {}

  // The engine's number for the client's.
  ConversationId of(const std::string& session, ConversationId theirs);
  // The same for a first question, which takes over what its client has prepared as a draft.
  ConversationId ofFirstQuestion(const std::string& session, ConversationId theirs);
  void holds(ConversationId ours, std::int64_t bytes);
  // Nothing: it has none of this number.
  std::optional<ConversationId> forget(const std::string& session, ConversationId theirs);
  // Those that the engine is to forget, and no longer known here: beyond the limits, and as the model that has read them goes.
  std::vector<ConversationId> tooMany() { return m_kept.tooMany(); }
  std::vector<ConversationId> forgetAll() { return m_kept.forgetAll(); }

  std::int64_t bytes() const { return m_kept.bytes(); }

 private:
  struct OfClient {
    std::string session;
    ConversationId theirs = 0;
  };
  KeptConversations<OfClient>::Kept* find(const std::string& session, ConversationId theirs);

  KeptConversations<OfClient> m_kept;
};

}  // namespace winnow::app
