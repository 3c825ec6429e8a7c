// One question, from messages to the last token: the engine's way of a turn, in the order of ARCHITECTURE.md's drawing.
//
// Goes on from what the conversation holds (conversation_states.h), makes the turn ready (turn_prefill.h: segment, prefill, event) and
// answers it (turn_answer.h). Works on a fork of the conversation: what happens to it is only kept when the turn ends well (or was stopped
// after its first token), so Cancel and errors leave the conversation as it was. With guard ram it goes on from the full cache instead,
// which is kept beside the conversation, and compresses all of it for the new question. Used by engine/api. Errors: Exception. Engine
// thread only.
#pragma once

#include <optional>
#include <span>

#include "engine/generation/context/request_context.h"
#include "engine/generation/prefill/turn_prefill.h"
#include "engine/generation/requests/conversation_states.h"
#include "engine/messages/events.h"
#include "engine/messages/requests.h"

namespace winnow {

// Errors: kInvalidArgument unless the thread ends with something that the user says.
void require_question(std::span<const Message> thread);

// The turn as its guard has it: guard ram compresses the whole cache, guard alone leaves out what was said before.
Turn as_run(const Turn& turn);

// Where the turn starts from prepared media: its question, read behind them. None, and `start` is where else it starts: its prompt goes on
// otherwise than they were prepared for, or it does not start from them.
std::optional<ReadyTurn> ready_if_prepared(const RequestContext& context, const Turn& turn, const ConversationStates& states,
                                           TurnStart& start);

// Guard ram keeps the whole segment uncompressed beside what it compresses.
Compaction compaction_of(const Turn& turn);

// Emits everything up to, but not including, Finished, which it returns. Fills the context's trace.
Finished run_turn(const RequestContext& context, const Turn& turn, ConversationStates& states);

}  // namespace winnow
