// Prepares media before a question, as far as the recipe can without one.
//
// A recipe that compresses before the question has its media prefilled and compressed: a later turn prefills its own text only. For all
// other recipes the media are decoded and encoded, and a later turn starts with the prefill. Used by engine/api for Prepare. Errors:
// Exception, Interrupted (only the cache of encoded media has changed then). Engine thread only.
#pragma once

#include "engine/generation/context/request_context.h"
#include "engine/generation/requests/conversation_states.h"
#include "engine/messages/events.h"
#include "engine/messages/requests.h"

namespace winnow {

// Emits everything up to, but not including, Prepared, which it returns.
Prepared run_prepare(const RequestContext& context, const Turn& turn, ConversationStates& states);

}  // namespace winnow
