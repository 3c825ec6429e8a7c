// An answer that was given, checked against the full cache.
//
// Used by engine/api for Score. Makes the cache before the answer once more, from the state that the turn had started from, and the full
// cache of the whole thread (the same prefill where the turn had started from nothing). Changes no conversation. Errors: Exception,
// Interrupted. Engine thread only.
#pragma once

#include "engine/generation/conversation_slot.h"
#include "engine/generation/loaded_model.h"
#include "engine/media/frame_source.h"
#include "engine/messages/events.h"
#include "engine/messages/requests.h"

namespace winnow {

class ScoreRunner {
 public:
  ScoreRunner(LoadedModel& model, MediaOpener* opener) : model_(model), opener_(opener) {}

  // Emits the progress of the prefills.
  Scored run(const Score& score, const ConversationSlot& slot, const EmitEvent& emit, const InterruptToken& interrupt);

 private:
  LoadedModel& model_;
  MediaOpener* opener_;
};

}  // namespace winnow
