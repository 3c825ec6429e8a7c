// Which of the engine's conversations a request goes on with: callers send whole threads and name no conversation.
//
// One whose thread is the request's beginning goes on; else one that begins with the same attachments, because they stay read and
// compressed for any number of questions; else a new one. A thread counts under the recipe that it was asked with. What was used the
// longest time ago is forgotten first, beyond a number of threads or of bytes. Pure; threads: one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/messages/requests.h"

namespace winnow::app {

class ServedThreads {
 public:
  // first: the smallest number of a conversation; those of others are below.
  ServedThreads(ConversationId first, std::int64_t mostBytes, std::size_t mostThreads = 16);

  // Of a turn without one; the day of its prompt becomes that of the thread, or stays.
  void choose(Turn& turn);
  // It was answered: its thread is the turn's and this answer. bytes: that the engine holds for it.
  void answered(const Turn& turn, const std::string& answer, std::int64_t bytes);
  // It could not be answered: a new one holds nothing.
  void failed(ConversationId conversation);
  // Those that are beyond the limits now, and no longer known here: the engine is to forget them.
  std::vector<ConversationId> tooMany();

  // All of them, as the model that has read them goes.
  std::vector<ConversationId> forgetAll();

  std::int64_t bytes() const;

 private:
  struct Kept {
    ConversationId conversation = 0;
    std::vector<std::string> items;  // a key for every item of the thread
    std::size_t attached = 0;        // of these, up to and including the last attachment of the first message that has some
    RecipeSpec recipe;
    std::string day;
    std::int64_t bytes = 0;
    std::uint64_t used = 0;
  };

  std::vector<Kept> m_kept;
  const std::int64_t m_mostBytes;
  const std::size_t m_mostThreads;
  ConversationId m_next;
  std::uint64_t m_clock = 0;
};

}  // namespace winnow::app
