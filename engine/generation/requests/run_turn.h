// One question, from messages to the last token: the engine's way of a turn, in the order of ARCHITECTURE.md's drawing.
//
// Goes on from what the conversation holds (conversation_states.h), makes the turn ready (ready_turn.h: segment, prefill, event) and
// answers it (turn_answer.h). Works on a fork of the conversation: what happens to it is only kept when the turn ends well (or was stopped
// after its first token), so Cancel and errors leave the conversation as it was. With guard ram it goes on from the full cache instead,
// which is kept beside the conversation, and compresses all of it for the new question. Used by engine/api. Errors: Exception. Engine
// thread only.
#pragma once

#include "engine/generation/context/loaded_model.h"
#include "engine/generation/context/turn_trace.h"
#include "engine/generation/conversation/conversation_states.h"
#include "engine/media/frame_source.h"
#include "engine/messages/events.h"

namespace winnow {

// Errors: kInvalidArgument unless the thread ends with something that the user says.
void require_question(std::span<const Message> thread);

// The turn as its guard has it: guard ram compresses the whole cache.
Turn as_run(const Turn& turn);
// A fork of what the turn goes on from; under guard ram its cache may lie in host memory still.
Conversation start_of_turn(const Turn& turn, const ConversationStates& states, const KvShape& shape);

class TurnRunner {
 public:
  TurnRunner(LoadedModel& model, MediaOpener* opener) : model_(model), opener_(opener) {}

  // Emits everything up to, but not including, Finished, which it returns. trace may be null.
  Finished run(const Turn& turn, ConversationStates& states, const EmitEvent& emit, TurnTrace* trace, const InterruptToken& interrupt);

 private:
  Finished run_from_full(const Turn& turn, ConversationStates& states, const EmitEvent& emit, TurnTrace* trace,
                         const InterruptToken& interrupt);

  LoadedModel& model_;
  MediaOpener* opener_;
};

}  // namespace winnow
