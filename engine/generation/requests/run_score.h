// An answer that was given, checked against the full cache.
//
// Used by engine/api for Score. Makes the cache before the answer once more, from the state that the turn had started from, and the full
// cache of the whole thread (the same prefill where the turn had started from nothing). Changes no conversation. Errors: Exception,
// Interrupted. Engine thread only.
#pragma once

#include "engine/generation/context/request_context.h"
#include "engine/generation/requests/conversation_states.h"
#include "engine/messages/events.h"
#include "engine/messages/requests.h"

namespace winnow {

// Emits the progress of the prefills.
Scored run_score(const RequestContext& context, const Score& score, const ConversationStates& states);

}  // namespace winnow
