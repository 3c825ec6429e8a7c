// Scores a given answer against the full cache.
//
// Used by engine/api for Score. Prefills the full cache of the whole thread anew, whatever caches are in memory: the verdict depends on
// nothing else. Where the states before the answer are still there, or the turn started from nothing, the cache that wrote it is rebuilt as
// well (in the latter case from the same prefill), for the figures that compare both. Changes no conversation. Errors: Exception,
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
