// Scores a given answer against the full cache.
//
// Used by engine/api for Score. Rebuilds the cache before the answer from the turn's start, and the full cache of the whole thread (one
// prefill for both if the turn had started from nothing). Changes no conversation. Errors: Exception, Interrupted. Engine thread only.
#pragma once

#include "engine/generation/context/request_context.h"
#include "engine/generation/requests/conversation_states.h"
#include "engine/messages/events.h"
#include "engine/messages/requests.h"

namespace winnow {

// Emits the progress of the prefills.
Scored run_score(const RequestContext& context, const Score& score, const ConversationStates& states);

}  // namespace winnow
