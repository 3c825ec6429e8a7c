// One question, from messages to the last token: the engine's way of a turn, in the order of ARCHITECTURE.md's drawing.
//
// Prepares the segment (turn_segment.h), prefills it while the recipe's event watches and compacts (segment_prefill.h, segment_event.h) and
// answers (segment_answer.h). Works on a fork of the conversation: what happens to it is only kept when the turn ends well (or was stopped after its first
// token), so Cancel and errors leave the conversation as it was. Used by engine/api. Errors: Exception. Engine thread only.
#pragma once

#include <optional>

#include "engine/api/events.h"
#include "engine/generation/conversation.h"
#include "engine/generation/loaded_model.h"
#include "engine/generation/turn_trace.h"
#include "engine/media/frame_source.h"

namespace winnow {

// What the engine keeps per conversation: its present state and the state before the last question (for answering again).
struct ConversationSlot {
  std::optional<Conversation> current;
  std::optional<Conversation> before_last;
};

// Errors: kInvalidArgument unless the thread ends with something that the user says.
void require_question(const Turn& turn);

class TurnRunner {
 public:
  TurnRunner(LoadedModel& model, MediaOpener* opener) : model_(model), opener_(opener) {}

  // Emits everything up to, but not including, Finished, which it returns. trace may be null.
  Finished run(const Turn& turn, ConversationSlot& slot, const EmitEvent& emit, TurnTrace* trace, const InterruptToken& interrupt);

 private:
  Finished run_on(Conversation& working, const Turn& turn, const EmitEvent& emit, TurnTrace* trace, const InterruptToken& interrupt);

  LoadedModel& model_;
  MediaOpener* opener_;
};

}  // namespace winnow
