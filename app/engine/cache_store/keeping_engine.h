// An engine whose conversations outlive it: what it has read of a chat is kept on disk and gone on from after a restart.
//
// Wrapped around the real one by bootstrap, on the engine thread. Before the first request about a chat that the engine does not know, its
// file is read; after an answer, or media that were prepared, it is written. A file that does not fit any more (another model, changed
// media, damage) is removed and said with CacheSetAside; the request then reads everything again. ForgetConversation forgets the file too.
// If a document of the chat needs a password that this run of the program does not know, the request fails, and the file stays.
// When the engine's process has ended (app/engine/process), all chats are unknown to it again. A file at which it ended twice is removed.
// The engine writes nothing more for a chat in which something is watched: what a camera or a screen has shown stays in memory.
// Text, answers and media stay in the chats' database: a lost file costs time, nothing else.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "app/engine/cache_store/conversation_caches.h"
#include "engine/api/engine.h"

namespace winnow::app {

// From here on the numbers are of conversations that are nobody's chats, but other programs' (app/programs/server): they are kept nowhere.
inline constexpr ConversationId kFirstUnkeptConversation = ConversationId{1} << 62;

class KeepingEngine final : public Engine {
 public:
  // caches: outlive the engine.
  KeepingEngine(std::unique_ptr<Engine> engine, ConversationCaches& caches);
  void handle(const Request& request, EventSink& sink, const InterruptToken& interrupt) override;

 private:
  // False: the request has failed.
  bool recall(ConversationId conversation, RequestId request, EventSink& sink, const InterruptToken& interrupt);
  void keep(ConversationId conversation, RequestId request);

  const std::unique_ptr<Engine> m_engine;
  ConversationCaches& m_caches;
  std::string m_model;                   // fingerprint of the loaded one; empty: nothing is kept
  std::set<ConversationId> m_recalled;   // the engine has what there is to know
  std::set<ConversationId> m_suspected;  // the engine's process ended when it read their file
};

}  // namespace winnow::app
