// An answer that was given, checked against the full cache.
//
// Used by engine/api for Score. Makes the cache before the answer once more, from the state that the turn had started from, and the full
// cache of the whole thread (the same prefill where the turn had started from nothing). Changes no conversation. Errors: Exception,
// Interrupted. Engine thread only.
#pragma once

#include "engine/generation/context/loaded_model.h"
#include "engine/generation/conversation/conversation_states.h"
#include "engine/media/frame_source.h"
#include "engine/messages/events.h"
#include "engine/messages/requests.h"

namespace winnow {

class ScoreRunner {
 public:
  ScoreRunner(LoadedModel& model, MediaOpener* opener) : model_(model), opener_(opener) {}

  // Emits the progress of the prefills.
  Scored run(const Score& score, const ConversationStates& states, const EmitEvent& emit, const InterruptToken& interrupt);

 private:
  LoadedModel& model_;
  MediaOpener* opener_;
};

}  // namespace winnow
