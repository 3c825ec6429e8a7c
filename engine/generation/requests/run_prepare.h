// Media read before anything is asked about them, as far as the recipe can without a question.
//
// A recipe that compresses before the question has everything done: a turn that goes on from here reads its own text only. For all others
// the media are decoded and encoded, and a turn begins with the prefill. Used by engine/api for Prepare. Errors: Exception, Interrupted
// (nothing has changed then but what is remembered of encoded media). Engine thread only.
#pragma once

#include "engine/generation/context/request_context.h"
#include "engine/generation/requests/conversation_states.h"
#include "engine/messages/events.h"
#include "engine/messages/requests.h"

namespace winnow {

// Emits everything up to, but not including, Prepared, which it returns.
Prepared run_prepare(const RequestContext& context, const Turn& turn, ConversationStates& states);

}  // namespace winnow
