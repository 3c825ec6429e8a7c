// Runs one question, from messages to the last token, in the order of ARCHITECTURE.md's drawing.
//
// Selects a state to continue from (conversation_states.h), prefills and compresses (turn_prefill.h), then decodes the answer
// (turn_answer.h). Works on a fork, which replaces the conversation only if the turn succeeds or was stopped after its first token. Cancel
// and errors leave the conversation unchanged. Guard ram continues from the full cache kept beside the conversation, and compresses all of
// it for the new question. Used by engine/api. Errors: Exception. Engine thread only.
#pragma once

#include <span>

#include "engine/generation/context/request_context.h"
#include "engine/generation/prefill/turn_prefill.h"
#include "engine/generation/requests/conversation_states.h"
#include "engine/messages/events.h"
#include "engine/messages/requests.h"

namespace winnow {

// Errors: kInvalidArgument unless the thread ends with a user message.
void require_question(std::span<const Message> thread);

// The turn with its guard applied: guard ram compresses the whole cache, guard alone drops earlier questions and answers.
Turn as_run(const Turn& turn);

// The same for a request that gives no answer: without the beginning of one.
Turn as_asked(const Turn& turn);

// Guard ram keeps the whole segment uncompressed beside what it compresses.
Compaction compaction_of(const Turn& turn);

// Emits everything up to, but not including, Finished, which it returns. Fills the context's trace.
Finished run_turn(const RequestContext& context, const Turn& turn, ConversationStates& states);

}  // namespace winnow
