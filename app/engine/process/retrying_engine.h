// An engine around one that may end: a request that has said nothing yet is tried again once, on the engine that was started anew.
//
// Outermost, so that kept conversations are read again before the second try. Tried again are Turn, ExportTurn, Compare, Score, Plan and
// Prepare, unless a word was delivered or an interrupt asked for; of the second try only what is new is passed on. A Transcribe goes on
// behind the lines that it has told, also where it was the reader of media that ended. What changes state that
// has gone with the engine (a file to write or to read, the next clip of a source) fails with the reason. So does a question about a
// watched source: what was seen of it is in no file. Each of several that ran together has its own second try, one after another. A source
// whose engine ended at another request is told of at its own next one. Threads: as the engine.
#pragma once

#include <memory>
#include <set>

#include "engine/api/engine.h"

namespace winnow::app {

class RetryingEngine final : public Engine {
 public:
  explicit RetryingEngine(std::unique_ptr<Engine> engine);
  void handle(const Request& request, EventSink& sink, const InterruptToken& interrupt) override;
  void handle_together(const Request& request, EventSink& sink, const InterruptToken& interrupt, Waiting& waiting) override;

 private:
  void tryAgain(const Request& request, EventSink& sink, int sampled, const InterruptToken& interrupt);

  const std::unique_ptr<Engine> m_engine;
  std::set<ConversationId> m_watched;  // what is read there came clip by clip
  std::set<ConversationId> m_gone;     // what was seen has gone with an engine, and no request has been told
};

}  // namespace winnow::app
