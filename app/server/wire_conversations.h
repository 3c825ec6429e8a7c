// Which of the engine's conversations a client means: every client counts its own, and none reaches another's, a chat's or a thread's.
//
// Used by wire_service.h. A client is who knows its session, a number that nobody guesses. What was used the longest time ago is forgotten
// first, beyond a number of conversations or of bytes: its client loses time, since every turn carries its whole thread. Pure; threads:
// one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/messages/requests.h"

namespace winnow::app {

class WireConversations {
 public:
  // first: the smallest number; those of others are below.
  WireConversations(ConversationId first, std::int64_t mostBytes, std::size_t most = 64);

  // The engine's number for the client's.
  ConversationId of(const std::string& session, ConversationId theirs);
  // The same for a first question, which takes over what its client has prepared as a draft.
  ConversationId ofFirstQuestion(const std::string& session, ConversationId theirs);
  void holds(ConversationId ours, std::int64_t bytes);
  // Nothing: it has none of this number.
  std::optional<ConversationId> forget(const std::string& session, ConversationId theirs);
  // Those that are beyond the limits now, and no longer known here: the engine is to forget them.
  std::vector<ConversationId> tooMany();
  std::vector<ConversationId> forgetAll();

  std::int64_t bytes() const;

 private:
  struct Kept {
    std::string session;
    ConversationId theirs = 0;
    ConversationId ours = 0;
    std::int64_t bytes = 0;
    std::uint64_t used = 0;
  };
  Kept* find(const std::string& session, ConversationId theirs);

  std::vector<Kept> m_kept;
  const std::int64_t m_mostBytes;
  const std::size_t m_most;
  ConversationId m_next;
  std::uint64_t m_clock = 0;
};

}  // namespace winnow::app
