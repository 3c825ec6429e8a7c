// Which of the engine's conversations a request goes on with: callers send whole threads and name no conversation.
//
// One whose thread is the request's beginning goes on; else one that begins with the same attachments, because they stay read and
// compressed for any number of questions; else a new one. A thread counts under the recipe that it was asked with. Beyond a number of
// threads or of bytes, kept_conversations.h says which are forgotten. Pure; threads: one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/programs/server/kept_conversations.h"
#include "engine/messages/requests.h"

namespace winnow::app {

class ServedThreads {
 public:
  // first: the smallest number of a conversation; those of others are below.
  ServedThreads(ConversationId first, std::int64_t mostBytes, std::size_t mostThreads = 16) : m_threads(first, mostBytes, mostThreads) {}

  // True while a turn is answered that this one would go on from, or whose attachments it shares: they are read once.
  bool mustWait(const Turn& turn);
  // Chooses for a turn without one, which runs from now on; the day of its prompt becomes that of the thread, or stays.
  void choose(Turn& turn);
  // The day that choose() would give it, of a turn that nobody answers.
  std::string dayOf(const Turn& turn);
  // It was answered: its thread is the turn's and this answer. bytes: that the engine holds for it.
  void answered(const Turn& turn, const std::string& answer, std::int64_t bytes);
  // It could not be answered: a new one holds nothing.
  void failed(ConversationId conversation);
  // Those that the engine is to forget, and no longer known here: beyond the limits, and as the model that has read them goes.
  std::vector<ConversationId> tooMany() { return m_threads.tooMany(); }
  std::vector<ConversationId> forgetAll() { return m_threads.forgetAll(); }

  std::int64_t bytes() const { return m_threads.bytes(); }

 private:
  struct Thread {
    RecipeSpec recipe;
    std::string day;
    std::vector<std::string> items{};  // a key for every item; none: not answered yet
    std::size_t attached = 0;          // of these, up to and including the last attachment of the first message that has some
    std::vector<std::string> asked{};  // likewise, of a turn that runs
  };

  KeptConversations<Thread>::Kept* best(const Turn& turn);  // null: none

  KeptConversations<Thread> m_threads;
};

}  // namespace winnow::app
