// Estimates a turn without running it: exact tokens, cache bytes by the recipe's own rules, whether it fits, expected time.
//
// Used by engine/api for Plan. Opens media (headers only) and builds the prompt as prepare_segment() does; the compression event is
// foreseen by SegmentCompression, the allocator's peak by counting KvCache's blocks. Exact where budgets are known before the prefill;
// where they follow the prompt their sum is exact and the peak is off by a few blocks (of a prefill in two passes, in which layers are
// compacted in their order, by as much as their shares differ). Changes nothing. Errors: Exception, Interrupted.
// Engine thread.
#pragma once

#include "engine/generation/context/request_context.h"
#include "engine/generation/requests/conversation_states.h"
#include "engine/messages/events.h"
#include "engine/messages/requests.h"

namespace winnow {

Planned plan_turn(const RequestContext& context, const Turn& turn, const ConversationStates& states);

}  // namespace winnow
